# Sourced by the scripts beside it: what they print.

failed_steps=()

# step NAME COMMAND...: runs the command and prints one line with its seconds. Its output is shown only
# when it fails; exit code 77 means that it was skipped, and its last line says why.
step() {
  local name=$1 start=$SECONDS log status=0
  shift
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  case $status in
    0) printf 'ok    %-44s %4d s\n' "$name" $((SECONDS - start)) ;;
    77) printf 'SKIP  %-44s %4d s  %s\n' "$name" $((SECONDS - start)) "$(tail -n 1 "$log")" ;;
    *)
      cat "$log"
      printf 'FAIL  %-44s %4d s\n' "$name" $((SECONDS - start))
      failed_steps+=("$name")
      ;;
  esac
  rm -f "$log"
  [[ $status == 0 || $status == 77 ]]
}

# end_of_steps WHAT: the closing line; its status is that of the whole script.
end_of_steps() {
  if ((${#failed_steps[@]})); then
    printf '%s: FAILED after %d s: %s\n' "$1" "$SECONDS" "$(IFS=';'; echo "${failed_steps[*]}")"
    return 1
  fi
  printf '%s: passed in %d s\n' "$1" "$SECONDS"
}
