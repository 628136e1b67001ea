import { expect, test } from 'vitest'
import type { LiveSocket } from '#engine/route/live-listener.ts'
import { listenerItem, livePlan } from '#engine/testing.ts'
import type { ClientValidation } from '#plan/item.ts'
import { clientAuthChanged } from './choose-tls.ts'

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
  ['certificates are asked for now', { 'a.test': undefined }, { 'a.test': STRICT }, true],
  ['and not any more', { 'a.test': STRICT }, { 'a.test': undefined }, true],
  ['in another mode', { 'a.test': LOOSE }, { 'a.test': STRICT }, true],
  ['of another authority', { 'a.test': STRICT }, { 'a.test': OTHER }, true],
  ['a nearer listener comes that asks', { '*.test': undefined }, { '*.test': undefined, 'a.test': STRICT }, true],
  ['one goes, and the next best asks', { '*.test': STRICT, 'a.test': undefined }, { '*.test': STRICT }, true],
  ['listeners come and go, and none asks', { 'a.test': undefined }, { 'b.test': undefined }, false],
  ['listeners come and go, and all ask the same', { 'a.test': STRICT }, { 'a.test': STRICT, 'b.test': STRICT }, false],
])('%s', (_, before, after, otherwise) => {
  expect(clientAuthChanged(socketOf(before), socketOf(after))).toBe(otherwise)
})
