import type { MessagePort } from 'node:worker_threads'
import { parseJson } from '#base/parse-json.ts'
import { SecretSet } from '#base/secret-set.ts'
import type { GatewayIdentity } from '#exchange/gateway-identity.ts'
import { GuardLoad } from '#exchange/guard-load.ts'
import { parseNetwork } from '#net/connect/forward-rules.ts'
import { chooseTransports } from '#net/transport/choose-transports.ts'
import { DecisionIds } from '#observe/decision-ids.ts'
import { AccessLog } from '#observe/log/access-log.ts'
import type { LogFields, LogMessage } from '#observe/log/application-log.ts'
import { LINE_FORMATS } from '#observe/log/line-formats.ts'
import { LineWriter, type LineWriterEvents } from '#observe/log/line-writer.ts'
import { LogFile } from '#observe/log/log-file.ts'
import type { LogTarget } from '#observe/log/log-target.ts'
import { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import { Exporters } from '#observe/otlp/exporters.ts'
import { OtlpAccessLog } from '#observe/otlp/otlp-access-log.ts'
import { Tracer } from '#observe/otlp/tracer.ts'
import { RequestObserver } from '#observe/request-observer.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { PlanItem } from '#plan/item.ts'
import { forgetSecretsOf, noteSecretsOf } from '#policies/shared/kept/kept-copies.ts'
import { ProxyServer } from '#proxy/server.ts'
import { LocalChannels } from '#state/channels.ts'
import { Load } from '#state/load.ts'
import { LocalTable } from '#state/shared-table.ts'
import { openSlotMemory } from '#state/slots.ts'
import { ChannelsToMain } from './channels-to-main.ts'
import { createCloudServices } from './cloud-services.ts'
import { HeapWatch } from './heap-watch.ts'
import { importKey } from './import-key.ts'
import type { FromWorker, PlanMessage, ToWorker, WorkerStart } from './messages.ts'
import { SlowHashes } from './passwords/slow-hashes.ts'
import { ThreadChecker } from './passwords/thread-checker.ts'
import type { Question, QuestionAnswer } from './questions.ts'
import { recordProfile } from './record-profile.ts'
import { circuitReporter } from './report-circuit.ts'
import { evictionReporter } from './report-eviction.ts'
import { exhaustionReporter } from './report-exhaustion.ts'
import { toolChangeReporter } from './report-tool-changes.ts'
import { measureRuntime } from './runtime-metrics.ts'
import { createSealer } from './sealer.ts'
import { ThreadCounter } from './token-counts/thread-counter.ts'
import { countTurns } from './watchdog.ts'

/** Records in one answer. */
const RECORDS_AT_ONCE = 256

/** What a proxy worker takes from the thread that it runs in. */
export interface WorkerSurroundings {
  readonly environment: NodeJS.ProcessEnv
  /** Where the access log goes that has no file. */
  readonly standardOutput: LogTarget
  /** How long a line of the access log waits for more; undefined: as long as usual. */
  readonly lineWaitMs?: number
}

/** A proxy worker: receives plans from the main thread over `port` and serves traffic with them. It closes the port when it has ended. */
export async function runProxyWorker(start: WorkerStart, port: MessagePort, around: WorkerSurroundings): Promise<void> {
  let planVersion = 0
  /** Of the plan, and of clouds. */
  const secrets = new SecretSet()
  const metrics = new MetricsWriter((update) => send({ kind: 'metrics', update }))
  const format = LINE_FORMATS[start.logFormat]
  const gateway: GatewayIdentity = {
    podName: around.environment.POD_NAME,
    namespace: around.environment.NAMESPACE,
    gateway: around.environment.GATEWAY,
  }
  const exporters = new Exporters({
    call: (destination, request) => proxy.call(destination, request),
    version: start.version,
    gateway,
    random: Math.random,
    delivered: (signal, items) => metrics.series('telemetryExported', [signal]).add(items),
    dropped: (signal, reason, items) => metrics.series('telemetryDropped', [signal, reason]).add(items),
    failing: ({ signal, backend }, cause) => send({ kind: 'export', state: { signal, backend, cause } }),
    resumed: ({ signal, backend }) => send({ kind: 'export', state: { signal, backend, cause: undefined } }),
  })
  const accessLog = new AccessLog(format, (line) => lines.write(line), secrets, new OtlpAccessLog(exporters, secrets))
  // Created now: only a counter that was 0 before shows its first loss as an increase.
  const lostLines = metrics.series('lostLines', [])
  const logTarget = start.logFile === undefined ? around.standardOutput : new LogFile(start.logFile)
  const logEvents: LineWriterEvents = {
    failing: (cause) => send({ kind: 'log', state: { kind: 'failing', cause: nameLog(cause) } }),
    resumed: (lines) => send({ kind: 'log', state: { kind: 'resumed', lines } }),
    ended: (lines) => send({ kind: 'log', state: { kind: 'ended', lines } }),
    lost: (lines) => lostLines.add(lines),
    lossLine: (lines) => accessLog.lossLine(lines),
  }
  const lines = new LineWriter(logTarget, logEvents, format.shows === undefined ? around.lineWaitMs : 0)
  const decisionIds = new DecisionIds()
  const observer = new RequestObserver(
    start.name,
    decisionIds,
    accessLog,
    metrics,
    (decisionId, error) =>
      send({ kind: 'bug', decisionId, stack: error instanceof Error ? (error.stack ?? '') : `${error}` }),
    new Tracer(exporters, secrets),
    {
      bodyBytes: start.recordBodyBytes,
      areWritten: start.writesRecords,
      counter: new Float64Array(start.decisions),
    },
  )
  const { transports, fallbackReason } = await chooseTransports(start.transport)
  metrics.series('workerStarts', [transports.kind]).add(1)
  if (start.transport === 'auto' && fallbackReason !== undefined) {
    warn('connections without TLS use streams, which are slower', { cause: fallbackReason })
  }
  const slowHashes = new SlowHashes((error) => warn('a thread that checks passwords failed', { cause: `${error}` }))
  const tokenCounter = new ThreadCounter((port) => send({ kind: 'count-tokens', port }, [port]))
  const table = new LocalTable((entry) => send({ kind: 'set-value', entry }), start.instant)
  for (const entry of start.table) table.add(entry)
  const channelsToMain = new ChannelsToMain((sent) => send({ kind: 'send-text', sent }))
  const channels = new LocalChannels(start.name, channelsToMain.carry)
  const proxy = new ProxyServer({
    decisionIds,
    gateway,
    memory: openSlotMemory(start.slots, start.share.place),
    importKey,
    passwords: new ThreadChecker(slowHashes),
    tokenCounter,
    observer,
    sealer: createSealer(start.sessionKeys),
    createClouds: (credentials) => createCloudServices(credentials, around.environment),
    table,
    channels,
    ticketKeys: start.ticketKeys,
    bodyMemoryBytes: start.bodyMemoryBytes,
    recordBodyBytes: start.recordBodyBytes,
    share: start.share,
    forwardTo: start.forwardTo.map(parseNetwork).filter((network) => network !== undefined),
    transports,
    requestKept: (of, id, fetchedMs) => send({ kind: 'ask-kept', of, id, fetchedMs }),
    evicted: evictionReporter(metrics, log),
    circuitChanged: circuitReporter(log),
    exhausted: exhaustionReporter(log),
    toolsChanged: toolChangeReporter(metrics, log),
    load: new Load(metrics.series('requestsInFlight', []), start.load, start.share.place),
    guardLoad: new GuardLoad(metrics.series('guardHeldBytes', []), metrics.series('guardWindows', [])),
    reportFact: (fact) => send({ kind: 'fact', version: planVersion, fact }),
  })

  function warn(message: string, fields: LogFields): void {
    log('workers', 'warn', message, fields)
  }

  function log(...[module, level, message, fields]: Parameters<LogMessage>): void {
    send({ kind: 'message', module, level, message, fields })
  }

  function send(message: FromWorker, moved: MessagePort[] = []): void {
    port.postMessage(message, moved)
  }

  function nameLog(cause: string): string {
    return start.logFile === undefined ? cause : `${start.logFile}: ${cause}`
  }

  /** Of the next plan. */
  let parts: PlanItem[] = []

  async function takePlan(message: PlanMessage): Promise<FromWorker> {
    const last = parseJson(message.delta) as PlanDelta
    const delta = { ...last, set: [...parts, ...last.set] }
    parts = []
    for (const [key, values] of message.secrets) secrets.set(key, values)
    planVersion = delta.version
    proxy.operatorSockets = message.operatorSockets
    const failed = await proxy.update(delta, message.slots, message.sockets, message.inherited)
    return { kind: 'applied', version: delta.version, failed }
  }

  /** @returns the reply */
  async function handle(message: ToWorker): Promise<FromWorker | undefined> {
    if (message.kind === 'plan') return takePlan(message)
    if (message.kind === 'plan-part') parts.push(...(parseJson(message.items) as PlanItem[]))
    else if (message.kind === 'ticket-keys') {
      proxy.changeTicketKeys(message.keys)
    } else if (message.kind === 'stop-accepting') {
      await proxy.stopAccepting(message.minMs)
      return { kind: 'stopped-accepting' }
    } else if (message.kind === 'drain') {
      send({ kind: 'drained', cutOff: await proxy.drain(message.drainMs, (limitMs) => exporters.close(limitMs)) })
      if (toldRecords !== undefined) {
        send({ kind: 'last-records', records: observer.records.listAfter(toldRecords, Number.POSITIVE_INFINITY) })
      }
      await slowHashes.close()
      tokenCounter.close()
      lines.close()
      port.close()
    }
    return undefined
  }

  /** The number of decisions up to the last one that was told; undefined: nobody has asked. */
  let toldRecords: number | undefined

  function answerQuestion({ about, question, after }: Question): QuestionAnswer {
    if (about === 'sessions') return { kind: 'answer', about, question, items: proxy.sessions }
    if (about === 'sockets') return { kind: 'answer', about, question, items: proxy.listening }
    if (about === 'newRecords') {
      const told = observer.records.listAfter(after, RECORDS_AT_ONCE)
      toldRecords = told.count
      return { kind: 'answer', about, question, items: [told] }
    }
    return { kind: 'answer', about, question, items: observer.records.list() }
  }

  function reply(answer: FromWorker | undefined): void {
    if (answer !== undefined) send(answer)
  }

  // One message after the other: a plan is fully in force before the next message is processed.
  let last: Promise<void> = Promise.resolve()
  port.on('message', (message: ToWorker) => {
    // Questions of operators do not wait for a plan or a drain.
    if (message.kind === 'ask') {
      send(answerQuestion(message))
    } else if (message.kind === 'reopen-log') {
      lines.reopen()
    } else if (message.kind === 'set-value') {
      table.add(message.entry)
    } else if (message.kind === 'channel-text') {
      const { id, name, text } = message
      void channels.deliver(name, text).then((taken) => send({ kind: 'text-answer', id, taken }))
    } else if (message.kind === 'channel-answer') {
      channelsToMain.answered(message.number, message.taken)
    } else if (message.kind === 'record-profile') {
      recordProfile(message.profile, message.durationMs).then(
        (text) => send({ kind: 'profile-recorded', result: { kind: 'profile', text } }),
        (error: unknown) => send({ kind: 'profile-recorded', result: { kind: 'failed', cause: `${error}` } }),
      )
    } else if (message.kind === 'mesh-material') {
      proxy.meshMaterialChanged(message.material)
    } else if (message.kind === 'prices') {
      proxy.pricesChanged(message.list)
    } else if (message.kind === 'kept') {
      // Not queued, because requests wait for it.
      noteSecretsOf(message.update, secrets)
      proxy.keptChanged(message.update)
    } else if (message.kind === 'kept-dropped') {
      proxy.forgetKept(message.of, message.id)
      forgetSecretsOf(message.of, message.id, secrets)
    } else last = last.then(() => handle(message)).then(reply)
  })
  const turns = countTurns(start.turns, start.turnMs)
  const heapFull = metrics.series('heapFull', [start.name])
  const heapWatch = new HeapWatch((isFull) => {
    heapFull.set(isFull ? 1 : 0)
    proxy.heapIsFull = isFull
    send({ kind: 'heap', isFull })
  })
  const runtime = measureRuntime(metrics, start.name, () => heapWatch.collected())
  port.on('close', () => {
    turns.cancel()
    runtime.cancel()
    heapWatch.cancel()
  })
}
