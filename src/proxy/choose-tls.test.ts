import { expect, test } from 'vitest'
import type { LiveSocket } from '#engine/route/live-listener.ts'
import { listenerItem, livePlan } from '#engine/testing.ts'
import type { SecureContexts } from '#net/accept/secure-contexts.ts'
import type { ClientValidation } from '#plan/item.ts'
import { chooseTls, clientAuthChanged } from './choose-tls.ts'

type Written = Readonly<Record<string, ClientValidation | undefined>>

/** A socket with TLS listeners, by hostname. */
function socketOf(listeners: Written): LiveSocket {
  const items = Object.entries(listeners).map(([hostname, clientValidation]) =>
    listenerItem({
      key: `Listener/default/main/${hostname}`,
      name: hostname,
      hostname,
      protocol: 'HTTPS',
      tlsMode: 'Terminate',
      ...(clientValidation === undefined ? {} : { clientValidation }),
    }),
  )
  return livePlan(...items).socket
}

const STRICT: ClientValidation = { authorities: ['ConfigMap/default/ca'], mode: 'AllowValidOnly' }
const LOOSE: ClientValidation = { ...STRICT, mode: 'AllowInsecureFallback' }
const OTHER: ClientValidation = { ...STRICT, authorities: ['ConfigMap/default/other'] }

test.each<[what: string, before: Written, after: Written, otherwise: boolean]>([
  ['nothing changes', { 'a.test': STRICT, '*.test': undefined }, { 'a.test': STRICT, '*.test': undefined }, false],
  ['listeners in another order', { a: STRICT, b: undefined }, { b: undefined, a: STRICT }, false],
  ['client certificates are required now', { 'a.test': undefined }, { 'a.test': STRICT }, true],
  ['client certificates are no longer required', { 'a.test': STRICT }, { 'a.test': undefined }, true],
  ['another validation mode', { 'a.test': LOOSE }, { 'a.test': STRICT }, true],
  ['another authority', { 'a.test': STRICT }, { 'a.test': OTHER }, true],
  [
    'a more specific listener that requires them is added',
    { '*.test': undefined },
    { '*.test': undefined, 'a.test': STRICT },
    true,
  ],
  [
    'a listener is removed, and the next one requires them',
    { '*.test': STRICT, 'a.test': undefined },
    { '*.test': STRICT },
    true,
  ],
  ['listeners are added and removed, and none requires them', { 'a.test': undefined }, { 'b.test': undefined }, false],
  [
    'listeners are added and removed, and all have the same requirements',
    { 'a.test': STRICT },
    { 'a.test': STRICT, 'b.test': STRICT },
    false,
  ],
])('%s', (_, before, after, otherwise) => {
  expect(clientAuthChanged(socketOf(before), socketOf(after))).toBe(otherwise)
})

test.each([
  ['HTTPS', 'http'],
  ['TLS', 'bytes'],
] as const)('a connection of a listener for %s carries %s', (protocol, carries) => {
  const { plan, socket } = livePlan(listenerItem({ hostname: 'a.test', protocol, tlsMode: 'Terminate' }))
  const context = {}
  const contexts = { of: () => context } as unknown as SecureContexts
  expect(chooseTls(socket, 'a.test', { index: plan.index, contexts })).toMatchObject({ context, carries })
  expect(chooseTls(socket, 'b.test', { index: plan.index, contexts })).toBe('unknown-name')
})

test.each([
  [['Passthrough'], 'unknown-name-relayed'],
  [['Terminate'], 'unknown-name'],
  [['Passthrough', 'Terminate'], 'unknown-name'],
] as const)('an unknown server name where the listeners have mode %j', (modes, choice) => {
  const listeners = modes.map((tlsMode) =>
    listenerItem({ key: tlsMode, name: tlsMode, hostname: `${tlsMode.toLowerCase()}.test`, protocol: 'TLS', tlsMode }),
  )
  const { plan, socket } = livePlan(...listeners)
  const contexts = { of: () => ({}) } as unknown as SecureContexts
  expect(chooseTls(socket, 'other.test', { index: plan.index, contexts })).toBe(choice)
})
