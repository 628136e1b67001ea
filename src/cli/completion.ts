import { PROGRAM } from '#instance/project-file.ts'
import { UsageError } from './usage-error.ts'

// The scripts ask the program for candidates, which knows its commands, options and fields. Without any, the shell offers files.

const BASH = `# bash completion for gatewright: eval "$(gatewright completion bash)"
_gatewright() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ \${COMP_WORDS[1]} == fields ]] && compopt -o nospace 2>/dev/null
}
complete -o default -F _gatewright gatewright`

const ZSH = `#compdef gatewright
# zsh completion for gatewright: eval "$(gatewright completion zsh)", after compinit
_gatewright() {
  local -a candidates suffix
  candidates=(\${(f)"$("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  [[ \${words[2]} == fields ]] && suffix=(-S '')
  if (( \${#candidates} )); then compadd "\${suffix[@]}" -- "\${candidates[@]}"; else _files; fi
}
compdef _gatewright gatewright`

const FISH = `# fish completion for gatewright: gatewright completion fish | source
function __gatewright_words
  set -l line (commandline -opc)
  set -l last (commandline -ct)
  $line[1] completion words -- $line[2..] "$last" 2>/dev/null
end
complete -c gatewright -n '__gatewright_words | count >/dev/null' -f -a '(__gatewright_words)'`

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH }

/** The script that completes command lines in a shell. */
export function completionScript(shell: string): string {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined
  if (script === undefined) throw new UsageError(`${PROGRAM} completion knows bash, zsh and fish, not ${shell}`)
  return script
}
