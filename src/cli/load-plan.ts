import type { Finding } from '#base/finding.ts'
import { type TranslateOptions, Translator } from '#control/translator.ts'
import type { SharedState } from '#engine/merge/compile-context.ts'
import { PlanCheck } from '#engine/plan/check-plan.ts'
import { NO_COUNTER } from '#exchange/token-counter.ts'
import { planState, SLOTS } from '#instance/plan-state.ts'
import { ForwardRules, parseNetwork } from '#net/connect/forward-rules.ts'
import type { OperatorSocket, SocketAddress } from '#net/connect/own-machine.ts'
import { ownMachine } from '#net/connect/own-sockets.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { PlanItem } from '#plan/item.ts'
import { RemoteKeySets } from '#policies/shared/authentication/remote-key-set.ts'
import { CloudCredentials } from '#policies/shared/clouds/cloud-credential.ts'
import { createSlotMemory, SlotDirectory } from '#state/slots.ts'
import type { CheckedObjects } from '#store/store.ts'
import { importKey } from '#workers/import-key.ts'
import { DIRECT_CHECKER } from '#workers/passwords/direct-checker.ts'
import { createSealer, readSessionKeys, type SessionKeys } from '#workers/sealer.ts'
import { operatorSockets } from './operator-addresses.ts'

/** The plan of the objects of a store, with all findings. */
export interface LoadedPlan {
  readonly items: ReadonlyMap<string, PlanItem>
  readonly findings: readonly Finding[]
  readonly state: SharedState
}

export interface LoadOptions extends Pick<TranslateOptions, 'addresses' | 'allowsExternalNames'> {
  /** Of the gateway whose sessions requests have; by default random. */
  readonly sessionKeys?: SessionKeys
  /** Networks that clients may choose destinations in whatever they are. */
  readonly forwardTo?: readonly string[]
  /** Sockets of the gateway, which they may not choose. */
  readonly listening?: () => Iterable<SocketAddress>
  /** Sockets of its servers for operators; default: the usual ones. */
  readonly servers?: readonly OperatorSocket[]
  /** Fetches the remote key set with this id into `keySets`. Without it, none is fetched. */
  readonly fetchKeySet?: (id: string, keySets: RemoteKeySets) => void
}

/** There is no log, and the findings of the objects tell of faults. */
const findingsTell = () => {}

/** Translates and checks, with separate memory for buckets and health. @param addresses of the listeners of each Gateway */
export function loadPlan(
  store: CheckedObjects,
  { addresses, allowsExternalNames = false, sessionKeys, fetchKeySet, ...forwarding }: LoadOptions = {},
): LoadedPlan {
  const memory = createSlotMemory(SLOTS, false)
  const directory = new SlotDirectory(memory)
  const keySets: RemoteKeySets = new RemoteKeySets(importKey, fetchKeySet && ((id) => fetchKeySet(id, keySets)))
  const state: SharedState = {
    ...planState(memory, directory, { keySets, credentials: new CloudCredentials() }),
    passwords: DIRECT_CHECKER,
    tokenCounter: NO_COUNTER,
    sealer: createSealer(sessionKeys ?? readSessionKeys({})),
    forwardRules: forwardRules(forwarding),
  }
  const translator = new Translator({
    tlsMaterial: TLS_MATERIAL,
    allowsExternalNames,
    onFault: findingsTell,
    ...(addresses && { addresses }),
  })
  const change = translator.apply(store.takeChange())
  translator.noteProblems(new PlanCheck(state, findingsTell).take(change).problems)
  return { items: translator.items, findings: translator.findings, state }
}

function forwardRules({
  forwardTo = [],
  listening = () => [],
  servers = operatorSockets({}),
}: Pick<LoadOptions, 'forwardTo' | 'listening' | 'servers'>): ForwardRules {
  const networks = forwardTo.map(parseNetwork).filter((network) => network !== undefined)
  return new ForwardRules(networks, ownMachine({ listeners: listening, servers: () => servers }))
}
