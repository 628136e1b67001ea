import { Command, CommanderError, Option } from 'commander'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import { VERSION } from '#instance/version.ts'
import { addClusterCommands } from './cluster-commands.ts'
import { keepCompiledCode } from './compiled-code.ts'
import { variablesHelp } from './describe-variables.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { addOperatorCommands, asksGateway } from './operator-commands.ts'
import { complain, print, printText } from './output.ts'
import type { Surroundings } from './surroundings.ts'
import { UsageError } from './usage-error.ts'

const PATHS = 'files and folders with objects (YAML or JSON)'
const STATE =
  'folder for gateway.json (addresses of the running gateway), rate-limits.json (levels of local rate limits), objects.db (objects of the API), replace.sock (for run --replace), acme-* (account and certificates) and kubeconfig (for clients of the API); default: .gatewright, if it can be written'
const FILES = 'file or folder with objects; may be repeated'

/**
 * Runs the command line.
 * @param argv without the names of runtime and script
 * @param around surroundings of a gateway; default: the process
 */
export async function runCommandLine(argv: readonly string[], around?: Surroundings): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok
  const end = (result: ExitCode) => {
    code = result
  }
  try {
    await buildProgram(end, around).parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    if (!(error instanceof UsageError || error instanceof ApiUnreadable)) throw error
    if (error instanceof ApiUnreadable) {
      complain(error.message)
      return EXIT.findings
    }
    complainInLines(error.message)
    return EXIT.usage
  }
}

/** What is wrong with the command line, in the words of the gateway. */
function complainInLines(text: string): void {
  const [first = '', ...below] = text.split('\n')
  complain(first, ...below)
}

/** Each command loads its modules when it runs, so `version` and help respond at once. Commands inherit the settings of the program. */
function buildProgram(end: (code: ExitCode) => void, around: Surroundings | undefined): Command {
  const program = new Command('gatewright')
    .description('A programmable proxy gateway for HTTP, LLM, MCP and A2A traffic, configured by objects.')
    .version(`gatewright ${VERSION}`, '-V, --version', 'print the version')
    .showHelpAfterError('(run gatewright --help for usage)')
    .configureOutput({ outputError: (text) => complainInLines(text.replace(/^error: /, '').trimEnd()) })
    .exitOverride()
  program.commandsGroup('Start:')
  program
    .command('init')
    .description('Write a small configuration to start with. Existing files are not changed.')
    .argument('[topic]', 'http, llm, mcp or a2a', 'http')
    .argument('[folder]', 'folder to write gateway.yaml to (default: <topic>-gateway)')
    .action(async (topic, folder) => {
      const { init } = await import('./init.ts')
      end(init(topic, folder))
    })
  program
    .command('quickstart')
    .description('Run example servers and a gateway in front of them, and print commands to try. Not for production.')
    .argument('[paths...]', `${PATHS} (default: those of the quick start)`)
    .action(async (paths) => {
      const { quickstart } = await import('./quickstart.ts')
      process.exitCode = await quickstart(paths)
    })
  program
    .command('example-server')
    .description(
      'Run one small server to try a gateway with. An echo server responds with the request that it received.',
    )
    .argument('[kind]', 'echo, llm, weather or notes (MCP), agent (A2A)', 'echo')
    .requiredOption('--port <n>', 'port on 127.0.0.1')
    .option('--name <name>', 'name in its responses (default: the kind)')
    .action(async (kind, { port, name }) => {
      const { exampleServer } = await import('./quickstart.ts')
      await exampleServer(kind, port, name)
    })
  program.commandsGroup('Processes:')
  program
    .command('run')
    .description('Run a gateway with the objects in files.')
    .argument('[paths...]', PATHS)
    .option('-f, --file <path>', FILES, collect)
    .option('--state <dir>', STATE)
    .option(
      '--replace',
      'take the place of the gateway that runs with the same state folder, without a refused connection, and end; without such a gateway, run one',
    )
    .addOption(bind())
    .addOption(allowForwardTo())
    .addOption(allowExternalName())
    .option('--workers <n>', 'number of proxy threads (default: the number of processors)')
    .addOption(addressPool())
    .option('--records <dir>', 'folder for files with decision records (default: none are written)')
    .option('--records-limit <size>', 'size of all those files together; the oldest are removed (default: 256Mi)')
    .option(
      '--record-bodies <size>',
      'how much of each request and response body, prompts included, decision records keep, such as 4Ki (default: none)',
    )
    .addOption(logFormat())
    .addOption(logLevel())
    .addOption(allFields())
    .addHelpText('after', variablesHelp('run'))
    .action(async (paths, options) => {
      keepCompiledCode(options.state)
      const { run } = await import('./run.ts')
      end(await run(paths, options, around))
    })
  program
    .command('controller')
    .description(
      'Run a controller on Kubernetes: it deploys the proxies of Gateways, and delivers their configuration.',
    )
    .addOption(kubeconfig().default(undefined, 'that of the Pod'))
    .addOption(context())
    .addOption(namespace())
    .option('--bind <ip>', 'address of its servers', '::')
    .option(
      '--state <dir>',
      'folder for the token that changes need on the admin port; default: .gatewright, if it can be written',
    )
    .addOption(logFormat('the log'))
    .addOption(logLevel())
    .addOption(allFields())
    .addHelpText('after', variablesHelp('controller'))
    .action(async (options) => {
      const { runController } = await import('./controller.ts')
      end(await runController(options, around))
    })
  program
    .command('proxy')
    .description('Run the proxy of one Gateway, with the configuration that a controller on Kubernetes gives it.')
    .requiredOption('--controller <url>', 'address of the controller, such as https://gatewright-controller:9978')
    .option('--controller-ca <file>', 'certificate authorities of the controller (PEM; default: those of the system)')
    .option(
      '--controller-token <file>',
      'token that the proxy authenticates with; it is read again for each connection',
    )
    .option('--config <file>', 'settings of the process, in the form of rawConfig of ProxyParameters')
    .addOption(bind())
    .option(
      '--state <dir>',
      'folder for the levels of local rate limits, and the token that changes need on the admin port; default: .gatewright, if it can be written',
    )
    .option('--workers <n>', 'number of proxy threads (default: that of --config, or the number of processors)')
    .addOption(logFormat())
    .addOption(logLevel())
    .addOption(allFields())
    .addHelpText('after', variablesHelp('proxy'))
    .action(async (options) => {
      keepCompiledCode(options.state)
      const { runProxy } = await import('./proxy.ts')
      end(await runProxy(options, around))
    })
  program.commandsGroup('Objects:')
  program
    .command('lint')
    .description(
      'Check objects of files, of a running gateway or of a cluster. Exit code 0: no errors. Exit code 1: errors, or what --fail-on says, or the API cannot be read.',
    )
    .argument('[paths...]', PATHS)
    .option('-f, --file <path>', FILES, collect)
    .addOption(server())
    .addOption(kubeconfig())
    .addOption(context())
    .addOption(namespace())
    .addOption(stateOfGateway())
    .addOption(bind())
    .addOption(addressPool())
    .addOption(allowExternalName())
    .option(
      '--fail-on <problems>',
      'problems that make the exit code 1: errors (the default), warnings (and errors) or never',
    )
    .option('--fix', 'correct mistakes in the files that have only one possible correction')
    .option('--dry-run', 'with --fix: show the corrections as a diff, and change nothing')
    .option('-v, --verbose', 'also print advice on valid configuration that may not do what you expect')
    .option(
      '-o, --output <format>',
      'text (the default), json, sarif (for code scanners) or github (annotations of GitHub Actions)',
    )
    .addHelpText('after', variablesHelp('lint'))
    .action(async (paths, options) => {
      const { lint } = await import('./lint/lint.ts')
      end(await lint(paths, options))
    })
  program
    .command('explain')
    .description(
      'Show what a gateway with these objects would do with one request or connection. Nothing is sent without --call.',
    )
    .argument(
      '<request...>',
      '[METHOD] URL, such as GET http://localhost:8080/path; tcp://host:port or tls://host:port for a connection',
    )
    .option('-f, --file <path>', FILES, collect)
    .addOption(server())
    .addOption(kubeconfig())
    .addOption(context())
    .addOption(namespace())
    .addOption(stateOfGateway())
    .option('-H, --header <field>', "request header, 'name: value'; may be repeated", collect)
    .addOption(bind())
    .addOption(addressPool())
    .addOption(allowForwardTo())
    .addOption(allowExternalName())
    .option('--show-secrets', 'show credentials in clear text; treat the output as a secret')
    .option('-d, --data <body>', 'request body, or @path of a file with it; the default method becomes POST')
    .option(
      '--call',
      'call the servers that policies use (authorization, global rate limits, key sets, prompt guards); nothing is sent to backends',
    )
    .option('-o, --output <format>', 'text (the default) or json')
    .addHelpText('after', variablesHelp('explain'))
    .action(async (request, options) => {
      const { explain } = await import('./explain/explain.ts')
      end(await explain(request, options))
    })
  program
    .command('render')
    .description(
      'Print the Kubernetes objects that a controller would apply to run the proxies of the Gateways: Deployments, Services and so on. Nothing is applied. Exit code 1: errors, or the API cannot be read.',
    )
    .argument('[paths...]', PATHS)
    .option('-f, --file <path>', FILES, collect)
    .addOption(server())
    .addOption(kubeconfig())
    .addOption(context())
    .addOption(namespace())
    .addOption(stateOfGateway())
    .option('--controller <url>', 'URL that proxies get their configuration from (default: that of the chart)')
    .addHelpText('after', variablesHelp('render'))
    .action(async (paths, options) => {
      const { renderFiles } = await import('./render/render.ts')
      end(await renderFiles(paths, options))
    })
  program
    .command('fields')
    .description(
      'Describe a field: type, bounds, default, subfields, specification (with what is not implemented yet) and an example.',
    )
    .argument(
      '[path]',
      'path of a field, such as ProxyPolicy.spec.traffic.rateLimit, or a product, such as openai (default: all kinds)',
    )
    .action(async (path) => {
      const { fields } = await import('./fields.ts')
      end(fields(path))
    })
  program.commandsGroup('A running gateway or cluster:')
  addOperatorCommands(program, end)
  addClusterCommands(program, end)
  program.commandsGroup('The database of the API:')
  program
    .command('salvage')
    .description(
      'Rebuild a damaged database from all objects in it that can be read. The damaged file is kept. Exit code 1: objects were lost.',
    )
    .requiredOption('--state <dir>', 'the state folder')
    .action(async (options) => {
      const { salvage } = await import('./salvage.ts')
      end(salvage(options))
    })
  program
    .command('backup')
    .description(
      'Copy the database of the API to a file, also while the gateway runs. The copy has all acknowledged changes.',
    )
    .argument('<file>', 'file to write; it contains Secrets')
    .addOption(stateFolder())
    .action(async (file, options) => {
      const { backup } = await import('./backup.ts')
      end(backup(file, options))
    })
  program
    .command('restore')
    .description(
      'Restore the database of the API from such a copy. The gateway must be stopped. The existing database is kept under another name.',
    )
    .argument('<file>', 'file that backup wrote')
    .addOption(stateFolder())
    .action(async (file, options) => {
      const { restore } = await import('./backup.ts')
      end(restore(file, options))
    })
  program.commandsGroup('More:')
  const mcp = program.command('mcp').description('Tools for MCP servers.')
  mcp
    .command('doctor')
    .description(
      'Sign in to an MCP server as a client would, and list its tools. Says which step fails and what to change. Exit code 0: all steps work. Exit code 1: one does not.',
    )
    .argument('<url>', 'address of the MCP server, such as https://tools.example/mcp')
    .option('--token <token>', 'use this token instead of signing in; @path reads it from a file')
    .option('--client-id <id>', 'use this client instead of registering one')
    .option('--client-secret <secret>', 'get a token for the client itself, without a user; @path reads it from a file')
    .option('--scope <scopes>', 'scopes to ask for, separated by spaces (default: those that the server asks for)')
    .option('--redirect-port <port>', 'port on 127.0.0.1 that the browser is sent back to (default: any free port)')
    .option('--timeout <seconds>', 'how long to wait for the user (default: 300)')
    .option('-o, --output <format>', 'text (the default) or json')
    .action(async (url, options) => {
      const { doctor } = await import('./doctor/doctor.ts')
      end(await doctor(url, options))
    })
  asksGateway(mcp.command('sessions'))
    .description(
      'Show the sessions of MCP clients of a running gateway: targets, calls in flight, last errors. Exit code 0: all workers answered.',
    )
    .option('--backend <key>', 'only sessions at this backend, such as ProxyBackend/default/tools')
    .option('-o, --output <format>', 'text (the default) or json')
    .addHelpText('after', variablesHelp('mcp sessions'))
    .action(async (gateway, options) => {
      const { mcpSessions } = await import('./mcp-sessions.ts')
      end(await mcpSessions(gateway, options))
    })
  const idp = program.command('idp').description('Tools for identity providers that are compatible with Keycloak.')
  idp
    .command('setup')
    .description(
      'Create a client and users for tests, and print the policy that requires their tokens. What exists is updated. Exit code 0: all steps are done.',
    )
    .requiredOption('--url <url>', 'root of the provider, such as http://127.0.0.1:8180')
    .option('--realm <name>', 'realm of the client and the users', 'master')
    .option('--client-id <id>', 'client to register', 'gatewright')
    .option('--admin-username <name>', 'administrator of the realm master', 'admin')
    .option('--admin-password <password>', 'its password; @path reads it from a file (default: from the environment)')
    .option('--user <name:password:group>', 'user to create; may be repeated (default: alice and bob)', collect)
    .option('--target <kind/name>', 'what requires the tokens: HTTPRoute, GRPCRoute or Gateway', 'HTTPRoute/example')
    .option('--write <file>', 'write the objects to this file')
    .option('--dry-run', 'print each call, and send none')
    .option('--yes', 'set up a provider that is reachable from the Internet')
    .option('-o, --output <format>', 'text (the default) or json')
    .addHelpText('after', variablesHelp('idp setup'))
    .action(async (options) => {
      const { setupProvider } = await import('./idp/setup.ts')
      end(await setupProvider(options, (around ?? { environment: process.env }).environment))
    })
  idp
    .command('serve')
    .description('Serve an identity provider for development and tests. It is not for production.')
    .option('--address <ip>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 is any free one', '8180')
    .option('--public-url <url>', 'address that clients use (default: the Host of each request)')
    .option('--realm <name>', 'realm to create besides master; may be repeated', collect)
    .option('--state <dir>', 'folder for idp.json: keys, clients, users', '.gatewright')
    .addHelpText('after', variablesHelp('idp serve'))
    .action(async (options) => {
      const { serveProvider } = await import('./idp/serve.ts')
      end(await serveProvider(options, (around ?? { environment: process.env }).environment))
    })
  const inCluster = (command: Command) =>
    command
      .option('--kubeconfig <file>', 'the cluster (default: $KUBECONFIG, then ~/.kube/config)')
      .option('--context <name>', 'context of the kubeconfig (default: its current one)')
      .option('--namespace <name>', 'namespace of the provider', 'identity-provider')
      .option('--timeout <seconds>', 'how long to wait', '300')
  inCluster(idp.command('deploy'))
    .description('Deploy Keycloak for tests to a cluster, and wait until it has an address. Exit code 0: it has.')
    .option('--image <image>', 'image of Keycloak', 'quay.io/keycloak/keycloak:26.5')
    .action(async (options) => {
      const { deployProvider } = await import('./idp/deploy.ts')
      end(await deployProvider(options, process.env))
    })
  inCluster(idp.command('delete'))
    .description('Delete the namespace that idp deploy has created. Namespaces without its label are never deleted.')
    .action(async (options) => {
      const { deleteProvider } = await import('./idp/deploy.ts')
      end(await deleteProvider(options, process.env))
    })
  program
    .command('completion')
    .description(
      'Print a script that completes commands, options, files and paths of fields in a shell, such as: eval "$(gatewright completion bash)"',
    )
    .argument('<shell>', 'bash, zsh or fish')
    .argument('[words...]', 'for the script itself: the words of a command line')
    .action(async (shell, words) => {
      const { complete } = await import('./complete.ts')
      const { completionScript } = await import('./completion.ts')
      if (shell !== 'words') printText(completionScript(shell))
      else for (const candidate of complete(program, words)) print(candidate)
    })
  program
    .command('version')
    .description('Print the version.')
    .option('-v, --verbose', 'also print the runtime and the transport of connections without TLS')
    .addHelpText('after', variablesHelp('version'))
    .action(async ({ verbose = false }) => {
      const { versionLines } = await import('./version.ts')
      for (const line of await versionLines(verbose)) print(line)
    })
  program.addHelpCommand(
    program.createCommand('help').argument('[command]').description('Print the help of a command.').helpGroup('More:'),
  )
  return program
}

/** Options that `run` and the commands that predict it have in common. */
const logFormat = (logs = 'the log and the access log') =>
  new Option(
    '--log-format <format>',
    `format of ${logs}: text or json (default: text, with the main fields only on a terminal)`,
  )
const logLevel = () =>
  new Option(
    '--log-level <level>',
    'least important messages to log: error, warn, info or debug, also by module: info,proxy=debug (default: info)',
  )

const bind = () => new Option('--bind <ip>', 'address that listeners bind to').default('127.0.0.1')
const addressPool = () =>
  new Option(
    '--address-pool <cidr>',
    'loopback range, such as 127.10.0.0/16; each Gateway gets its own address from it',
  )

/** Options that name the API whose objects are read. */
const server = () =>
  new Option(
    '--server <url>',
    'read the objects of this API, such as https://127.0.0.1:15010; without --kubeconfig, that of a gateway on this machine (its kubeconfig is in the state folder)',
  )
const kubeconfig = () => new Option('--kubeconfig <file>', 'read the objects of the cluster that this file names')
const context = () => new Option('--context <name>', 'context of the kubeconfig (default: its current one)')
const namespace = () =>
  new Option(
    '-n, --namespace <name>',
    'read only objects in this namespace, for a kubeconfig that may not read all; may be repeated',
  ).argParser(collect)
const allFields = () => new Option('-v, --verbose', 'show all fields of the log, also on a terminal')
const stateFolder = () => new Option('--state <dir>', 'the state folder (default: .gatewright)')

const stateOfGateway = () =>
  new Option('--state <dir>', 'state folder of the gateway that runs here (default: .gatewright)')

const allowForwardTo = () =>
  new Option(
    '--allow-forward-to <cidr>',
    'network that dynamicForwardProxy backends may reach although its addresses are refused by default, such as 127.0.0.0/8; may be repeated',
  ).argParser(collect)

const allowExternalName = () =>
  new Option(
    '--allow-external-name',
    'use DNS names of Services (ExternalName) and EndpointSlices, also in objects that are not from files',
  )

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value]
}
