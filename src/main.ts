import { EXIT } from './cli/exit-code.ts'
import { complain, watchOutput } from './cli/output.ts'
import { runCommandLine } from './cli/program.ts'

watchOutput()
if ('fromBase64' in Uint8Array) {
  const code = await runCommandLine(process.argv.slice(2))
  process.exitCode ||= code
} else {
  complain(`Node ${process.version} needs the option --js-base-64 here; start bin/gatewright, which sets it`)
  process.exitCode = EXIT.usage
}
