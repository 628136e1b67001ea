import { type Command, Option } from 'commander'
import type { ExitCode } from './exit-code.ts'

/** Adds the commands for operators of a cluster. */
export function addClusterCommands(program: Command, end: (code: ExitCode) => void): void {
  program
    .command('check')
    .description(
      'Check a Kubernetes cluster before or after an installation: versions, clocks, definitions, permissions, the controller, Gateways, certificates. Nothing is changed. Exit code 0: nothing fails.',
    )
    .addOption(kubeconfig())
    .addOption(context())
    .addOption(namespaces('check only Gateways in this namespace'))
    .addOption(controllerNamespace())
    .option('-o, --output <format>', 'text (the default) or json')
    .action(async (options) => {
      const { check } = await import('./check.ts')
      end(await check(options))
    })
  program
    .command('collect')
    .description(
      'Write an archive for support, without secrets: objects with their statuses, events, logs, metrics, and what check finds. Of a cluster with --context or --kubeconfig, or else of the gateway that runs here. What may not be read is named. Exit code 0: the archive is written.',
    )
    .addOption(kubeconfig())
    .addOption(context())
    .addOption(namespaces('only objects and proxies in this namespace'))
    .addOption(controllerNamespace())
    .option('--server <url>', 'API of the gateway that runs here (default: that of its kubeconfig)')
    .option('--state <dir>', 'state folder of the gateway that runs here (default: .gatewright)')
    .option('--log-lines <n>', 'last lines of each log', '2000')
    .option('-o, --out <file>', 'file to write (default: gatewright-support-<time>.tar.gz)')
    .action(async (options) => {
      const { collect } = await import('./collect.ts')
      end(await collect(options))
    })
  program
    .command('definitions')
    .description('Tools for CustomResourceDefinitions.')
    .command('migrate')
    .description(
      'Store all objects of the kinds of this gateway in the version that their definitions store, and remove older versions from status.storedVersions. It may be stopped at any time, and repeated. Exit code 0: all definitions are done.',
    )
    .argument('[definitions...]', 'names of other definitions, such as httproutes.gateway.networking.k8s.io')
    .addOption(kubeconfig())
    .addOption(context())
    .option('--dry-run', 'write nothing, and say what would be done')
    .action(async (definitions, options) => {
      const { migrateDefinitions } = await import('./migrate-definitions.ts')
      end(await migrateDefinitions(definitions, options))
    })
}

export const kubeconfig = () =>
  new Option('--kubeconfig <file>', 'the cluster (default: $KUBECONFIG, then ~/.kube/config)')
export const context = () => new Option('--context <name>', 'context of the kubeconfig (default: its current one)')
const controllerNamespace = () =>
  new Option('--controller-namespace <name>', 'namespace of the controller').default('gatewright-system')

const namespaces = (what: string) =>
  new Option('-n, --namespace <name>', `${what}; may be repeated (default: all)`).argParser(
    (value: string, before: readonly string[] = []) => [...before, value],
  )
