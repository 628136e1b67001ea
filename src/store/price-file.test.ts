import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { formatProblem } from './file-problem.ts'
import { PriceFile } from './price-file.ts'

let folder = ''
let path = ''
let file: PriceFile | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'price-file-'))
  path = join(folder, 'prices.yaml')
})
afterEach(() => {
  file?.close()
  file = undefined
  rmSync(folder, { recursive: true })
})

function open(text: string): PriceFile {
  writeFileSync(path, text)
  file = new PriceFile(path)
  return file
}

const problemsIn = ({ problems }: PriceFile) =>
  problems.map((each) => formatProblem(each).replace(`${path}:`, '').trim())

const faults: [text: string, problems: string[]][] = [
  ['', ['error: prices: is required [required]']],
  [
    'prices: [',
    ['1:10: error: "[" of a line above is not closed before this line, or this line is not indented [invalid-yaml]'],
  ],
  ['- model: m', ['1:1: error: must be an object with prices, not a list [wrong-type]']],
  ['price: []', ['1:1: error: price: unknown field "price", did you mean "prices"? [unknown-field]']],
  ['prices: []\n---\nprices: []', ['3:1: error: a price file is one document, without --- [inconsistent]']],
  ['prices:\n  - input: 1', ['2:5: error: prices[0].model: is required [required]']],
  [
    'prices:\n  - model: m\n    inptu: 1',
    ['3:5: error: prices[0].inptu: unknown field "inptu", did you mean "input"? [unknown-field]'],
  ],
  [
    'prices:\n  - model: m\n    input: -1',
    ['3:5: error: prices[0].input: must be between 0 and 1000000 [out-of-range]'],
  ],
  [
    'prices:\n  - model: m\n    input: "1"',
    ['3:5: error: prices[0].input: must be a number, not a string (remove the quotes?) [wrong-type]'],
  ],
  [
    'prices:\n  - model: m\n    input: .nan',
    ['3:5: error: prices[0].input: must be a number, not NaN or infinity [wrong-type]'],
  ],
  [
    'prices:\n  - model: m\n    provider: opnai',
    [
      '3:5: error: prices[0].provider: must be one of openai, azure, anthropic, gcp.gemini, gcp.vertex_ai, aws.bedrock, did you mean "openai"? [unknown-value]',
    ],
  ],
  [
    'prices:\n  - model: m\n    output: 1\n    longPrompts:\n      - above: 5\n        input: 2',
    ['6:9: error: prices[0].longPrompts[0].input: needs input for shorter prompts in prices[0] [inconsistent]'],
  ],
  [
    'prices:\n  - model: m\n    serviceTiers:\n      priority:\n        longPrompts: [{above: 5, output: 2}]',
    [
      '5:34: error: prices[0].serviceTiers[priority].longPrompts[0].output: needs output for shorter prompts in prices[0].serviceTiers[priority] [inconsistent]',
    ],
  ],
]

for (const [text, problems] of faults) {
  test(`faults of ${JSON.stringify(text)}`, () => {
    expect([problemsIn(open(text)), file!.own]).toEqual([problems, []])
  })
}

test('a file that does not exist, and one that appears later', () => {
  file = new PriceFile(path)
  expect(file.problems.map(({ code }) => code)).toEqual(['file-missing'])
  expect(file.stale).toEqual([])
  writeFileSync(path, '{"prices": [{"model": "m", "input": 1.5}]}')
  file.reload()
  expect(file.problems).toEqual([])
  expect(file.own).toEqual([
    { provider: undefined, match: { equals: 'm' }, times: [{ prices: { input: 1.5 } }], tiers: {} },
  ])
})

test('while the file has errors, or is gone, its last valid prices are in force', () => {
  const prices = open('prices: [{model: m, input: 1}]')
  const { own } = prices
  expect(own).toHaveLength(1)
  for (const spoil of [() => writeFileSync(path, 'prices: 1'), () => rmSync(path)]) {
    spoil()
    prices.reload()
    expect(prices.own).toBe(own)
    expect(prices.stale).toMatchObject([{ file: path, objects: ['prices'], problems: [{ severity: 'error' }] }])
  }
  writeFileSync(path, 'prices: []')
  prices.reload()
  expect([prices.own, prices.stale, prices.problems]).toEqual([[], [], []])
})

test('a change of the file is noticed, also if an editor replaces it', async () => {
  writeFileSync(path, 'prices: []')
  file = new PriceFile(path, { watch: true, quietMs: 1 })
  const changed = new Promise<void>((resolve) => file!.subscribe(resolve))
  writeFileSync(join(folder, 'new'), 'prices: [{model: m, input: 1}]')
  renameSync(join(folder, 'new'), path)
  await changed
  expect(file.own).toHaveLength(1)
})

test('a closed file is not read again', async () => {
  using time = new VirtualTime()
  // Without its folder, it is looked for at intervals.
  const absent = join(folder, 'later', 'prices.yaml')
  file = new PriceFile(absent, { watch: true })
  file.close()
  mkdirSync(join(folder, 'later'))
  writeFileSync(absent, 'prices:\n  - model: m\n    input: 1')
  await time.pass(10_000)
  expect([file.own, time.nextMs]).toEqual([[], undefined])
})
