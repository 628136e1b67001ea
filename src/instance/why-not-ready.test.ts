import { expect, test } from 'vitest'
import { whyNotReady } from './why-not-ready.ts'

const serving = { name: 'default/main/http', problem: undefined }
const refused = { name: 'default/main/https', problem: '127.0.0.1:8443 is in use by another process' }
const running = {
  draining: false,
  started: true,
  hasGateways: () => true,
  unknownProtection: [],
  listeners: [serving],
  fullWorkers: [],
}

test.each([
  [{}, []],
  [{ listeners: [serving, refused] }, []],
  [{ listeners: [refused] }, ['listener default/main/https: 127.0.0.1:8443 is in use by another process']],
  [{ listeners: [] }, ['no Gateway has a valid listener']],
  [{ listeners: [], hasGateways: () => false }, ['no Gateway exists']],
  [{ listeners: undefined }, []],
  [{ listeners: undefined, fullWorkers: ['w2'] }, ['worker w2 refuses requests: its heap is nearly full']],
  [{ started: false, listeners: [] }, ['the first plan is not in force yet']],
  [{ unknownProtection: ['no version of a.yaml was valid'] }, ['no version of a.yaml was valid']],
  [{ fullWorkers: ['w2'] }, ['worker w2 refuses requests: its heap is nearly full']],
  [{ draining: true, fullWorkers: ['w2'] }, ['draining']],
])('%j', (change, reasons) => {
  expect(whyNotReady({ ...running, ...change })).toEqual(reasons)
})
