# Completes command lines of sluicectl. Made by `sluicectl completion fish`.
function __sluicectl_words
    switch "$argv"
        case ''
            echo 'status'\t'show the state of the server'
            echo 'watch'\t'show events as they happen'
            echo 'top'\t'show the server, its endpoints and its streams live, and cancel streams'
            echo 'usage'\t'sum up the tokens that were used'
            echo 'exchange'\t'commands about: exchange'
            echo 'config'\t'commands about: config'
            echo 'endpoint'\t'commands about: endpoint'
            echo 'pool'\t'commands about: pool'
            echo 'server'\t'commands about: server'
            echo 'doctor'\t'commands about: doctor'
            echo 'token'\t'commands about: token'
            echo 'completion'\t'print a script by which a shell completes command lines of sluicectl'
            echo 'version'\t'print the version of sluicectl'
            echo 'help'\t'show help'
        case 'completion'
            echo 'bash'
            echo 'zsh'
            echo 'fish'
        case 'config'
            echo 'get'\t'print the configuration in force, or an earlier one'
            echo 'validate'\t'say all that is wrong with a configuration'
            echo 'plan'\t'show what `config apply` would change'
            echo 'apply'\t'replace the configuration'
            echo 'edit'\t'change the configuration in an editor'
            echo 'versions'\t'list the versions that can be had back'
            echo 'rollback'\t'apply an earlier version again'
        case 'config apply'
            echo '<file>'
        case 'config plan'
            echo '<file>'
        case 'config validate'
            echo '<file>'
        case 'doctor'
            echo 'leaks'\t'see whether the server keeps what it should have given back'
        case 'endpoint'
            echo 'add'\t'add an endpoint to a pool'
            echo 'remove'\t'remove an endpoint from its pool'
            echo 'list'\t'list the endpoints and what they do'
            echo 'drain'\t'send no more requests to an endpoint, and wait until it serves nobody'
            echo 'resume'\t'send requests to a drained endpoint again'
        case 'exchange'
            echo 'list'\t'list the exchanges that run, or those that have ended'
            echo 'get'\t'show all about one exchange'
            echo 'cancel'\t'end an exchange'
            echo 'tail'\t'show the frames of a running exchange as they pass'
        case 'pool'
            echo 'list'\t'list the pools: who is in them, who waits, which keys are usable'
        case 'server'
            echo 'drain'\t'accept nothing new at the whole server, and wait until it serves nobody'
        case 'token'
            echo 'new'\t'make a token, and the line that lets it in'
    end
end
function __sluicectl_flags
    echo '--server'\t'the control address of sluiced'
    echo '--output'\t'aligned text for people (`table` means the same), or JSON for programs'
    echo '--token-file'\t'file with the token to send, else SLUICE_TOKEN is sent (never a flag, which ps would show)'
    echo '--tls-ca'\t'connect with TLS, to a server that these authorities (PEM), or the system\'s, vouch for'
    echo '--tls-cert'\t'PEM file of the certificate to show the server'
    echo '--tls-key'\t'PEM file of its key'
    echo '--tls-server-name'\t'whom the server\'s certificate must be for, if not for the host of --server'
    echo '--help'\t'show help'
    switch "$argv"
        case 'watch' 'watch *'
            echo '--tail'\t'begin with the N latest events (up to 1000000)'
            echo '--since'\t'begin with the first event of TIME or later: how long ago (5m), or 2026-01-02T03:04:05Z'
            echo '--resume-file'\t'keep the place in PATH; if it holds one, go on there instead of --tail or --since'
            echo '--no-follow'\t'end with the latest event'
            echo '--model'\t'only events of these models'
            echo '--pool'\t'only events of these pools'
            echo '--endpoint'\t'only events of these endpoints: chat/a or pools/chat/endpoints/a'
            echo '--principal'\t'only events of these clients'
            echo '--kind'\t'only events of these kinds'
            echo '--cause'\t'only failures and ends with these causes'
            echo '--exchange'\t'only events of these exchanges, by their whole ids'
        case 'usage' 'usage *'
            echo '--by'\t'what sums are told apart by: principal, model, pool, endpoint'
        case 'top' 'top *'
            echo '--interval'\t'how long to wait between two looks, from 100ms'
            echo '--once'\t'print one picture as text'
            echo '--model'\t'only streams for these models'
            echo '--pool'\t'only streams of these pools'
            echo '--endpoint'\t'only streams at these endpoints: chat/a or pools/chat/endpoints/a'
            echo '--principal'\t'only streams of these clients'
        case 'token new' 'token new *'
            echo '--role'\t'what NAME may do'
        case 'server drain' 'server drain *'
            echo '--timeout'\t'how long to wait, up to 24h'
            echo '--cancel'\t'end those that remain then, with the cause `drained`'
            echo '--reason'\t'why, for the audit log and the records; at most 256 bytes'
        case 'exchange list' 'exchange list *'
            echo '--finished'\t'those that have ended, instead of those that run'
            echo '--all'\t'both'
            echo '--model'\t'only exchanges for these models'
            echo '--pool'\t'only exchanges of these pools'
            echo '--endpoint'\t'only exchanges at these endpoints: chat/a or pools/chat/endpoints/a'
            echo '--principal'\t'only exchanges of these clients'
            echo '--cause'\t'only those that ended with these causes'
            echo '--limit'\t'at most N; 0 shows all'
        case 'exchange cancel' 'exchange cancel *'
            echo '--reason'\t'why; at most 256 bytes'
        case 'endpoint resume' 'endpoint resume *'
            echo '--reason'\t'why, for the audit log; at most 256 bytes'
        case 'endpoint remove' 'endpoint remove *'
            echo '--etag'\t'change only the version that has this etag, e.g. that of a plan'
        case 'endpoint list' 'endpoint list *'
            echo '--pool'\t'only those of this pool'
        case 'endpoint drain' 'endpoint drain *'
            echo '--timeout'\t'how long to wait, up to 24h'
            echo '--cancel'\t'end those that remain then, with the cause `drained`'
            echo '--reason'\t'why, for the audit log and the records; at most 256 bytes'
        case 'endpoint add' 'endpoint add *'
            echo '--etag'\t'change only the version that has this etag, e.g. that of a plan'
        case 'doctor leaks' 'doctor leaks *'
            echo '--interval'\t'how long to wait between two readings'
            echo '--ask'\t'wait for Enter instead, to start and end a load'
        case 'config rollback' 'config rollback *'
            echo '--etag'\t'change only the version that has this etag, e.g. that of a plan'
        case 'config get' 'config get *'
            echo '--generation'\t'of this generation; see `config versions`'
        case 'config apply' 'config apply *'
            echo '--etag'\t'change only the version that has this etag, e.g. that of a plan'
    end
end
function __sluicectl_values
    switch "$argv"
        case '--by'
            echo 'principal'
            echo 'model'
            echo 'pool'
            echo 'endpoint'
        case '--cause'
            echo 'completed'
            echo 'client_gone'
            echo 'bad_request'
            echo 'request_timeout'
            echo 'body_too_large'
            echo 'uri_too_long'
            echo 'head_too_large'
            echo 'unauthenticated'
            echo 'forbidden'
            echo 'not_found'
            echo 'over_limit'
            echo 'no_capacity'
            echo 'connect_failed'
            echo 'tls_failed'
            echo 'dns_failed'
            echo 'upstream_reset'
            echo 'upstream_refused_503'
            echo 'upstream_status'
            echo 'upstream_error_frame'
            echo 'upstream_protocol'
            echo 'truncated'
            echo 'empty_answer'
            echo 'connect_timeout'
            echo 'first_frame_timeout'
            echo 'idle_timeout'
            echo 'frame_idle_timeout'
            echo 'hold_budget_spent'
            echo 'cancelled_by_operator'
            echo 'drained'
            echo 'client_too_slow'
            echo 'internal'
            echo 'hedge_lost'
        case '--kind'
            echo 'started'
            echo 'attempt'
            echo 'attempt_failed'
            echo 'first_byte'
            echo 'first_frame'
            echo 'chunk'
            echo 'usage'
            echo 'finished'
            echo 'config_changed'
            echo 'endpoint_state'
            echo 'key_state'
        case '--output'
            echo 'text'
            echo 'json'
        case '--resume-file'
            echo '<file>'
        case '--role'
            echo 'viewer'
            echo 'tailer'
            echo 'operator'
        case '--tls-ca'
            echo '<file>'
        case '--tls-cert'
            echo '<file>'
        case '--tls-key'
            echo '<file>'
        case '--token-file'
            echo '<file>'
    end
end
function __sluicectl_complete
    set -l current (commandline -ct)
    set -l before (string match -r '^.*[=,]' -- $current)
    set -l flag ''
    set -l words
    for word in (commandline -opc)[2..-1]
        if test -n "$flag"
            set flag ''
            continue
        end
        switch $word
            case --all --ask --cancel --finished --help --no-follow --once -h '--*=*'
            case '--*'
                set flag $word
            case help
                if set -q words[1]
                    set -a words help
                end
            case '*'
                set -a words $word
        end
    end
    if test -z "$flag"; and string match -q -- '--*=*' $current
        set flag (string replace -r '=.*' '' -- $current)
    end
    if test -n "$flag"
        for value in (__sluicectl_values $flag)
            if test "$value" = '<file>'
                __fish_complete_path $current
            else
                printf '%s%s\n' "$before" $value
            end
        end
    else if string match -q -- '-*' $current
        __sluicectl_flags $words
    else
        for word in (__sluicectl_words $words)
            if test "$word" = '<file>'
                __fish_complete_path $current
            else
                printf '%s\n' $word
            end
        end
    end
end
complete -c sluicectl -f -a '(__sluicectl_complete)'
