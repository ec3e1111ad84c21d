#compdef sluicectl
# Completes command lines of sluicectl. Made by `sluicectl completion zsh`.
_sluicectl_words() {
  case $1 in
    '') candidates=('status:show the state of the server' 'watch:show events as they happen' 'top:show the server, its endpoints and its streams live, and cancel streams' 'usage:sum up the tokens that were used' 'exchange:commands about: exchange' 'config:commands about: config' 'endpoint:commands about: endpoint' 'pool:commands about: pool' 'server:commands about: server' 'doctor:commands about: doctor' 'token:commands about: token' 'completion:print a script by which a shell completes command lines of sluicectl' 'version:print the version of sluicectl' 'help:show help') ;;
    'completion') candidates=('bash' 'zsh' 'fish') ;;
    'config') candidates=('get:print the configuration in force, or an earlier one' 'validate:say all that is wrong with a configuration' 'plan:show what `config apply` would change' 'apply:replace the configuration' 'edit:change the configuration in an editor' 'versions:list the versions that can be had back' 'rollback:apply an earlier version again') ;;
    'config apply') candidates=('<file>') ;;
    'config plan') candidates=('<file>') ;;
    'config validate') candidates=('<file>') ;;
    'doctor') candidates=('leaks:see whether the server keeps what it should have given back') ;;
    'endpoint') candidates=('add:add an endpoint to a pool' 'remove:remove an endpoint from its pool' 'list:list the endpoints and what they do' 'drain:send no more requests to an endpoint, and wait until it serves nobody' 'resume:send requests to a drained endpoint again') ;;
    'exchange') candidates=('list:list the exchanges that run, or those that have ended' 'get:show all about one exchange' 'cancel:end an exchange' 'tail:show the frames of a running exchange as they pass') ;;
    'pool') candidates=('list:list the pools: who is in them, who waits, which keys are usable') ;;
    'server') candidates=('drain:accept nothing new at the whole server, and wait until it serves nobody') ;;
    'token') candidates=('new:make a token, and the line that lets it in') ;;
  esac
}
_sluicectl_flags() {
  candidates=('--server:the control address of sluiced' '--output:aligned text for people (`table` means the same), or JSON for programs' '--token-file:file with the token to send, else SLUICE_TOKEN is sent (never a flag, which ps would show)' '--tls-ca:connect with TLS, to a server that these authorities (PEM), or the system'\''s, vouch for' '--tls-cert:PEM file of the certificate to show the server' '--tls-key:PEM file of its key' '--tls-server-name:whom the server'\''s certificate must be for, if not for the host of --server' '--help:show help')
  case $1 in
    'watch' | 'watch '*) candidates+=('--tail:begin with the N latest events (up to 1000000)' '--since:begin with the first event of TIME or later: how long ago (5m), or 2026-01-02T03:04:05Z' '--resume-file:keep the place in PATH; if it holds one, go on there instead of --tail or --since' '--no-follow:end with the latest event' '--model:only events of these models' '--pool:only events of these pools' '--endpoint:only events of these endpoints: chat/a or pools/chat/endpoints/a' '--principal:only events of these clients' '--kind:only events of these kinds' '--cause:only failures and ends with these causes' '--exchange:only events of these exchanges, by their whole ids') ;;
    'usage' | 'usage '*) candidates+=('--by:what sums are told apart by: principal, model, pool, endpoint') ;;
    'top' | 'top '*) candidates+=('--interval:how long to wait between two looks, from 100ms' '--once:print one picture as text' '--model:only streams for these models' '--pool:only streams of these pools' '--endpoint:only streams at these endpoints: chat/a or pools/chat/endpoints/a' '--principal:only streams of these clients') ;;
    'token new' | 'token new '*) candidates+=('--role:what NAME may do') ;;
    'server drain' | 'server drain '*) candidates+=('--timeout:how long to wait, up to 24h' '--cancel:end those that remain then, with the cause `drained`' '--reason:why, for the audit log and the records; at most 256 bytes') ;;
    'exchange list' | 'exchange list '*) candidates+=('--finished:those that have ended, instead of those that run' '--all:both' '--model:only exchanges for these models' '--pool:only exchanges of these pools' '--endpoint:only exchanges at these endpoints: chat/a or pools/chat/endpoints/a' '--principal:only exchanges of these clients' '--cause:only those that ended with these causes' '--limit:at most N; 0 shows all') ;;
    'exchange cancel' | 'exchange cancel '*) candidates+=('--reason:why; at most 256 bytes') ;;
    'endpoint resume' | 'endpoint resume '*) candidates+=('--reason:why, for the audit log; at most 256 bytes') ;;
    'endpoint remove' | 'endpoint remove '*) candidates+=('--etag:change only the version that has this etag, e.g. that of a plan') ;;
    'endpoint list' | 'endpoint list '*) candidates+=('--pool:only those of this pool') ;;
    'endpoint drain' | 'endpoint drain '*) candidates+=('--timeout:how long to wait, up to 24h' '--cancel:end those that remain then, with the cause `drained`' '--reason:why, for the audit log and the records; at most 256 bytes') ;;
    'endpoint add' | 'endpoint add '*) candidates+=('--etag:change only the version that has this etag, e.g. that of a plan') ;;
    'doctor leaks' | 'doctor leaks '*) candidates+=('--interval:how long to wait between two readings' '--ask:wait for Enter instead, to start and end a load') ;;
    'config rollback' | 'config rollback '*) candidates+=('--etag:change only the version that has this etag, e.g. that of a plan') ;;
    'config get' | 'config get '*) candidates+=('--generation:of this generation; see `config versions`') ;;
    'config apply' | 'config apply '*) candidates+=('--etag:change only the version that has this etag, e.g. that of a plan') ;;
  esac
}
_sluicectl_values() {
  case $1 in
    '--by') candidates=('principal' 'model' 'pool' 'endpoint') ;;
    '--cause') candidates=('completed' 'client_gone' 'bad_request' 'request_timeout' 'body_too_large' 'uri_too_long' 'head_too_large' 'unauthenticated' 'forbidden' 'not_found' 'over_limit' 'no_capacity' 'connect_failed' 'tls_failed' 'dns_failed' 'upstream_reset' 'upstream_refused_503' 'upstream_status' 'upstream_error_frame' 'upstream_protocol' 'truncated' 'empty_answer' 'connect_timeout' 'first_frame_timeout' 'idle_timeout' 'frame_idle_timeout' 'hold_budget_spent' 'cancelled_by_operator' 'drained' 'client_too_slow' 'internal' 'hedge_lost') ;;
    '--kind') candidates=('started' 'attempt' 'attempt_failed' 'first_byte' 'first_frame' 'chunk' 'usage' 'finished' 'config_changed' 'endpoint_state' 'key_state') ;;
    '--output') candidates=('text' 'json') ;;
    '--resume-file') candidates=('<file>') ;;
    '--role') candidates=('viewer' 'tailer' 'operator') ;;
    '--tls-ca') candidates=('<file>') ;;
    '--tls-cert') candidates=('<file>') ;;
    '--tls-key') candidates=('<file>') ;;
    '--token-file') candidates=('<file>') ;;
  esac
}
_sluicectl() {
  local word flag='' joined=''
  local -a candidates
  for word in "${(@)words[2,CURRENT-1]}"; do
    if [[ -n $flag ]]; then flag=''; continue; fi
    case $word in
      --all | --ask | --cancel | --finished | --help | --no-follow | --once | -h | --*=*) ;;
      --*) flag=$word ;;
      help) joined+=${joined:+ help} ;;
      *) joined+=${joined:+ }$word ;;
    esac
  done
  if [[ -z $flag && $PREFIX == --*=* ]]; then
    flag=${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ -n $flag ]]; then
    _sluicectl_values "$flag"
    if [[ $PREFIX == *,* ]]; then compset -P '*,'; fi
  elif [[ $PREFIX == -* ]]; then
    _sluicectl_flags "$joined"
  else
    _sluicectl_words "$joined"
  fi
  if [[ "$candidates" == '<file>' ]]; then
    _files
  else
    _describe -V 'sluicectl' candidates
  fi
}
if [[ ${funcstack[1]} == _sluicectl ]]; then _sluicectl "$@"; else compdef _sluicectl sluicectl; fi
