# Completes command lines of sluicectl. Made by `sluicectl completion bash`.
_sluicectl_words() {
  case $1 in
    '') echo 'status watch top usage exchange config endpoint pool server doctor token completion version help' ;;
    'completion') echo 'bash zsh fish' ;;
    'config') echo 'get validate plan apply edit versions rollback' ;;
    'config apply') echo '<file>' ;;
    'config plan') echo '<file>' ;;
    'config validate') echo '<file>' ;;
    'doctor') echo 'leaks' ;;
    'endpoint') echo 'add remove list drain resume' ;;
    'exchange') echo 'list get cancel tail' ;;
    'pool') echo 'list' ;;
    'server') echo 'drain' ;;
    'token') echo 'new' ;;
  esac
}
_sluicectl_flags() {
  echo '--server --output --token-file --tls-ca --tls-cert --tls-key --tls-server-name --help'
  case $1 in
    'watch' | 'watch '*) echo '--tail --since --resume-file --no-follow --model --pool --endpoint --principal --kind --cause --exchange' ;;
    'usage' | 'usage '*) echo '--by' ;;
    'top' | 'top '*) echo '--interval --once --model --pool --endpoint --principal' ;;
    'token new' | 'token new '*) echo '--role' ;;
    'server drain' | 'server drain '*) echo '--timeout --cancel --reason' ;;
    'exchange list' | 'exchange list '*) echo '--finished --all --model --pool --endpoint --principal --cause --limit' ;;
    'exchange cancel' | 'exchange cancel '*) echo '--reason' ;;
    'endpoint resume' | 'endpoint resume '*) echo '--reason' ;;
    'endpoint remove' | 'endpoint remove '*) echo '--etag' ;;
    'endpoint list' | 'endpoint list '*) echo '--pool' ;;
    'endpoint drain' | 'endpoint drain '*) echo '--timeout --cancel --reason' ;;
    'endpoint add' | 'endpoint add '*) echo '--etag' ;;
    'doctor leaks' | 'doctor leaks '*) echo '--interval --ask' ;;
    'config rollback' | 'config rollback '*) echo '--etag' ;;
    'config get' | 'config get '*) echo '--generation' ;;
    'config apply' | 'config apply '*) echo '--etag' ;;
  esac
}
_sluicectl_values() {
  case $1 in
    '--by') echo 'principal model pool endpoint' ;;
    '--cause') echo 'completed client_gone bad_request request_timeout body_too_large uri_too_long head_too_large unauthenticated forbidden not_found over_limit no_capacity connect_failed tls_failed dns_failed upstream_reset upstream_refused_503 upstream_status upstream_error_frame upstream_protocol truncated empty_answer connect_timeout first_frame_timeout idle_timeout frame_idle_timeout hold_budget_spent cancelled_by_operator drained client_too_slow internal hedge_lost' ;;
    '--kind') echo 'started attempt attempt_failed first_byte first_frame chunk usage finished config_changed endpoint_state key_state' ;;
    '--output') echo 'text json' ;;
    '--resume-file') echo '<file>' ;;
    '--role') echo 'viewer tailer operator' ;;
    '--tls-ca') echo '<file>' ;;
    '--tls-cert') echo '<file>' ;;
    '--tls-key') echo '<file>' ;;
    '--token-file') echo '<file>' ;;
  esac
}
_sluicectl() {
  local current=${COMP_WORDS[COMP_CWORD]} word flag='' words='' candidates before=''
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $flag ]]; then flag=''; continue; fi
    case $word in
      --all | --ask | --cancel | --finished | --help | --no-follow | --once | -h) ;;
      --*) flag=$word ;;
      help) words+=${words:+ help} ;;
      *) words+=${words:+ }$word ;;
    esac
  done
  if [[ $current == '=' ]]; then current=''; fi
  if [[ -n $flag ]]; then
    candidates=$(_sluicectl_values "$flag")
    if [[ $current == *,* ]]; then before=${current%,*}, current=${current##*,}; fi
  elif [[ $current == -* ]]; then
    candidates=$(_sluicectl_flags "$words")
  else
    candidates=$(_sluicectl_words "$words")
  fi
  if [[ $candidates == '<file>' ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$candidates" -- "$current")
  fi
}
complete -F _sluicectl sluicectl
