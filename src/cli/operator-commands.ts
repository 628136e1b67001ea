import { type Command, Option } from 'commander'
import { ADMIN_ADDRESS } from '#api/own-ports.ts'
import { variablesHelp } from './describe-variables.ts'
import type { ExitCode } from './exit-code.ts'

/** Of commands that ask a running gateway. */
export const adminOption = () =>
  new Option('--admin <url>', `address of its admin server (default: the variable, or http://${ADMIN_ADDRESS})`)

/** Adds the commands that ask a running gateway at its admin port. */
export function addOperatorCommands(program: Command, end: (code: ExitCode) => void): void {
  program
    .command('tail')
    .description(
      'Show the requests of a running gateway as they end: one line each, with an id to pass to `gatewright why`. All filters must match.',
    )
    .addOption(adminOption())
    .option('--status <status>', 'only with this status: 403, 4xx, or 0 for no response')
    .option('--code <code>', 'only refused with this code, such as rate-limited')
    .option('--route <name>', 'only of this route: <namespace>/<name>')
    .option('--backend <name>', 'only to this backend: <namespace>/<name>')
    .option('--consumer <name>', 'only of this client: subject of its token, entry of its API key, or user name')
    .option('--model <name>', 'only with this model, in the request or the response')
    .option('-o, --output <format>', 'text (the default) or json (one record a line)')
    .addHelpText('after', variablesHelp('tail'))
    .action(async (options) => {
      const { tail } = await import('./decisions/tail.ts')
      end(await tail(options))
    })
  program
    .command('why')
    .description(
      'Show what a running gateway did with one request: which policies decided, where it went, and how long each step took.',
    )
    .argument('<id>', 'id of the decision: from tail, the log, or the response header gatewright-decision')
    .addOption(adminOption())
    .option('-o, --output <format>', 'text (the default) or json')
    .addHelpText('after', variablesHelp('why'))
    .action(async (id, options) => {
      const { why } = await import('./decisions/why.ts')
      end(await why(id, options))
    })
  program
    .command('status')
    .description(
      'Show the state of a running gateway: whether it is ready, its listeners, and what is wrong. Exit code 0: it is ready.',
    )
    .addOption(adminOption())
    .option('-o, --output <format>', 'text (the default) or json')
    .addHelpText('after', variablesHelp('status'))
    .action(async (options) => {
      const { status } = await import('./status/status.ts')
      end(await status(options))
    })
  program
    .command('top')
    .description('Show the routes and backends of a running gateway by rate, errors and latency, live.')
    .addOption(adminOption())
    .option('--interval <seconds>', 'time between two measurements', '2')
    .option('--once', 'measure once, and end')
    .option('-o, --output <format>', 'text (the default) or json (one measurement a line)')
    .addHelpText('after', variablesHelp('top'))
    .action(async (options) => {
      const { top } = await import('./top/top.ts')
      end(await top(options))
    })
  program
    .command('profile')
    .description(
      'Record a profile of one worker of a running gateway, for the developer tools of Chrome or for VS Code. cpu: where it spends its time. heap: which code allocated what it keeps. The worker is slower meanwhile.',
    )
    .argument('[kind]', 'cpu or heap', 'cpu')
    .option('--worker <name>', 'worker, as status names them (default: the first)')
    .option('--seconds <n>', 'how long, at most 60', '10')
    .option('--out <file>', 'file to write (default: <worker>.cpuprofile or <worker>.heapprofile)')
    .addOption(adminOption())
    .addHelpText('after', variablesHelp('profile'))
    .action(async (kind, options) => {
      const { profile } = await import('./profile.ts')
      end(await profile(kind, options))
    })
}
