import { watchOutput } from './cli/output.ts'
import { runCommandLine } from './cli/program.ts'

watchOutput()
const code = await runCommandLine(process.argv.slice(2))
process.exitCode ||= code
