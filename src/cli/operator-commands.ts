import type { Command } from 'commander'
import { ADMIN_ADDRESS } from '#api/own-ports.ts'
import { context, kubeconfig } from './cluster-commands.ts'
import { variablesHelp } from './describe-variables.ts'
import type { ExitCode } from './exit-code.ts'

/** Lets a command ask a gateway on this machine, or the pods of a Gateway of a cluster. The last argument of its action is the name of the Gateway. */
export function asksGateway(command: Command): Command {
  return command
    .argument('[gateway]', 'Gateway of a cluster (default: the gateway on this machine)')
    .option('--admin <url>', `address of its admin server (default: the variable, or http://${ADMIN_ADDRESS})`)
    .addOption(kubeconfig())
    .addOption(context())
    .option('-n, --namespace <name>', 'namespace of the Gateway (default: that of the context)')
    .option('--pod <name>', 'only this pod of the Gateway')
}

/** Adds the commands that ask a running gateway at its admin port. */
export function addOperatorCommands(program: Command, end: (code: ExitCode) => void): void {
  asksGateway(program.command('tail'))
    .description(
      'Show the requests of a running gateway as they end: one line each, with an id to pass to `gatewright why`. All filters must match.',
    )
    .option('--status <status>', 'only with this status: 403, 4xx, or 0 for no response')
    .option('--code <code>', 'only refused with this code, such as rate-limited')
    .option('--route <name>', 'only of this route: <namespace>/<name>')
    .option('--backend <name>', 'only to this backend: <namespace>/<name>')
    .option('--consumer <name>', 'only of this client: subject of its token, entry of its API key, or user name')
    .option('--model <name>', 'only with this model, in the request or the response')
    .option('-o, --output <format>', 'text (the default) or json (one record a line)')
    .addHelpText('after', variablesHelp('tail'))
    .action(async (gateway, options) => {
      const { tail } = await import('./decisions/tail.ts')
      end(await tail(gateway, options))
    })
  asksGateway(
    program
      .command('why')
      .argument('<id>', 'id of the decision: from tail, the log, or the response header gatewright-decision'),
  )
    .description(
      'Show what a running gateway did with one request: which policies decided, where it went, and how long each step took.',
    )
    .option('-o, --output <format>', 'text (the default) or json')
    .addHelpText('after', variablesHelp('why'))
    .action(async (id, gateway, options) => {
      const { why } = await import('./decisions/why.ts')
      end(await why(id, gateway, options))
    })
  asksGateway(program.command('status'))
    .description(
      'Show the state of a running gateway: whether it is ready, its listeners, and what is wrong; of a Gateway of a cluster with the version of the configuration in each pod; with --context alone, of all Gateways. Exit code 0: it is ready.',
    )
    .option('-o, --output <format>', 'text (the default) or json')
    .addHelpText('after', variablesHelp('status'))
    .action(async (gateway, options) => {
      const { status } = await import('./status/status.ts')
      end(await status(gateway, options))
    })
  asksGateway(program.command('top'))
    .description('Show the routes and backends of a running gateway by rate, errors and latency, live.')
    .option('--interval <seconds>', 'time between two measurements', '2')
    .option('--once', 'measure once, and end')
    .option('-o, --output <format>', 'text (the default) or json (one measurement a line)')
    .addHelpText('after', variablesHelp('top'))
    .action(async (gateway, options) => {
      const { top } = await import('./top/top.ts')
      end(await top(gateway, options))
    })
  asksGateway(program.command('profile').argument('[kind]', 'cpu or heap', 'cpu'))
    .description(
      'Record a profile of one worker of a running gateway, for the developer tools of Chrome or for VS Code. cpu: where it spends its time. heap: which code allocated what it keeps. The worker is slower meanwhile.',
    )
    .option('--worker <name>', 'worker, as status names them (default: the first)')
    .option('--seconds <n>', 'how long, at most 60', '10')
    .option('--out <file>', 'file to write (default: <worker>.cpuprofile or <worker>.heapprofile)')
    .addHelpText('after', variablesHelp('profile'))
    .action(async (kind, gateway, options) => {
      const { profile } = await import('./profile.ts')
      end(await profile(kind, gateway, options))
    })
}
