import { expect, test } from 'vitest'
import { type StageDefinition, Stages } from './stage.ts'
import { Table } from './table.ts'

/** A stage that looks up the text which each row names; `runs`: the keys that were worked on since the last time. */
function lookup() {
  const names = new Table<string>('names')
  const texts = new Table<string>('texts')
  const found = new Table<string>('found')
  const runs: string[] = []
  const stages = new Stages()
  stages.add({
    name: 'found',
    each: [names],
    writes: [found],
    run([name], work, key) {
      runs.push(key)
      for (const text of work.read(texts, name!)) work.write(found, key, text)
    },
  })
  const settle = () => {
    stages.update()
    return runs.splice(0)
  }
  return { names, texts, found, settle }
}

test('a change runs only the nodes that read it', () => {
  const { names, texts, found, settle } = lookup()
  names.put('a', 'w', ['one'])
  names.put('b', 'w', ['two'])
  texts.put('one', 'w', ['1'])
  expect(settle()).toEqual(['a', 'b'])
  expect([found.rows('a'), found.rows('b')]).toEqual([['1'], []])
  texts.put('two', 'w', ['2'])
  expect(settle()).toEqual(['b'])
  texts.put('two', 'w', ['2'])
  texts.put('three', 'w', ['3'])
  expect(settle()).toEqual([])
  expect(found.keys()).toEqual(['a', 'b'])
})

test('inputs that a node no longer reads are not followed', () => {
  const { names, texts, found, settle } = lookup()
  names.put('a', 'w', ['one'])
  texts.put('one', 'w', ['1'])
  settle()
  expect(texts.missedKeys()).toEqual([])
  names.put('a', 'w', ['two'])
  expect(settle()).toEqual(['a'])
  expect([found.rows('a'), texts.missedKeys()]).toEqual([[], ['two']])
  texts.put('one', 'w', ['other'])
  expect(settle()).toEqual([])
})

test('a node without rows loses its output and follows nothing', () => {
  const { names, texts, found, settle } = lookup()
  names.put('a', 'w', ['one'])
  texts.put('one', 'w', ['1'])
  settle()
  names.put('a', 'w', [])
  expect(settle()).toEqual([])
  expect(found.keys()).toEqual([])
  texts.put('one', 'w', ['other'])
  expect(settle()).toEqual([])
  names.put('a', 'w', ['one'])
  expect(settle()).toEqual(['a'])
  expect(found.rows('a')).toEqual(['other'])
})

test('rows stand in the order of their writers, or as they are compared', () => {
  const plain = new Table<number>('plain')
  const sorted = new Table<number>('sorted', (a, b) => a - b)
  for (const table of [plain, sorted]) {
    table.put('k', 'z', [3, 1])
    table.put('k', 'a', [2])
  }
  expect([plain.rows('k'), sorted.rows('k')]).toEqual([
    [2, 3, 1],
    [1, 2, 3],
  ])
  plain.put('k', 'z', [])
  expect([plain.rows('k'), plain.keys()]).toEqual([[2], ['k']])
  plain.put('k', 'a', [])
  expect([plain.rows('k'), plain.keys()]).toEqual([[], []])
})

test('equal rows keep their identity', () => {
  const table = new Table<object>('rows')
  const first = { a: [1], b: undefined }
  table.put('k', 'w', [first, { c: 1 }])
  const before = table.rows('k')
  table.put('k', 'w', [{ a: [1] }, { c: 1 }])
  expect(table.rows('k')).toBe(before)
  for (const other of [{ a: [1, 2] }, { a: { 0: 1 } }, { a: [1], b: 2 }, {}]) {
    table.put('k', 'w', [first, { c: 1 }])
    table.put('k', 'w', [other, { c: 1 }])
    expect(table.rows('k')[0]).toEqual(other)
  }
  table.put('k', 'w', [first])
  expect(table.rows('k')).toEqual([first])
})

const nothing: Omit<StageDefinition<number>, 'run' | 'each'> = { name: 'wrong', writes: [] }

test('a stage writes only declared tables, and reads only tables of earlier stages', () => {
  const input = new Table<number>('input')
  const output = new Table<number>('output')
  input.put('k', 'w', [1])
  const stages = new Stages()
  stages.add({ ...nothing, each: [input], run: (_, work) => work.write(output, 'k', 1) })
  expect(() => stages.update()).toThrow('stage wrong does not write output')
  const early = new Stages()
  early.add({ ...nothing, each: [input], run: (_, work) => void work.read(output, 'k') })
  early.add({ name: 'later', each: [input], writes: [output], run: () => {} })
  expect(() => early.update()).toThrow('stage wrong must not read output, which is written later')
  const upsideDown = new Stages()
  const late = new Table<number>('late')
  upsideDown.add({ ...nothing, each: [late], run: () => {} })
  upsideDown.add({ name: 'later', each: [input], writes: [late], run: () => {} })
  expect(() => upsideDown.update()).toThrow('stage wrong must not read late, which is written later')
})

test('rows from outside stand before those of stages, in the order of their names', () => {
  const input = new Table<true>('input')
  const output = new Table<string>('output')
  const stages = new Stages()
  stages.add({ name: 's', each: [input], writes: [output], run: (_, work, key) => work.write(output, 'k', key) })
  for (const key of ['b', 'z', 'a']) input.put(key, 'w', [true])
  output.put('k', 'y', ['from y'])
  stages.update()
  output.put('k', 'c', ['from c'])
  expect(output.rows('k')).toEqual(['from c', 'from y', 'a', 'b', 'z'])
})

test('rows of several stages are in the order of the stages', () => {
  const input = new Table<true>('input')
  const output = new Table<number>('output')
  const stages = new Stages()
  const numbers = Array.from({ length: 12 }, (_, i) => i)
  for (const i of numbers) {
    stages.add({ name: `${i}`, each: [input], writes: [output], run: (_, work) => work.write(output, 'k', i) })
  }
  input.put('k', 'w', [true])
  stages.update()
  expect(output.rows('k')).toEqual(numbers)
})

/** Nodes that throw while the text at their key is `bad`. */
function throwing() {
  const names = new Table<string>('names')
  const texts = new Table<string>('texts')
  const found = new Table<string>('found')
  const told: string[] = []
  const stages = new Stages(({ stage, key, rows, error }) => told.push(`${stage} ${key} ${rows}: ${error}`))
  stages.add({
    name: 'found',
    each: [names],
    writes: [found],
    run([name], work, key) {
      work.write(found, `${key}-early`, name!)
      const [text] = work.read(texts, name!)
      if (text === 'bad') throw new RangeError(`${key} is bad`)
      work.write(found, key, `${text}`)
    },
  })
  const settle = () => {
    stages.update()
    return told.splice(0)
  }
  return { names, texts, found, stages, settle }
}

test('a node that throws keeps the rows of its run before, and other nodes run', () => {
  const { names, texts, found, stages, settle } = throwing()
  names.put('a', 'w', ['one'])
  texts.put('one', 'w', ['1'])
  expect([settle(), stages.faults]).toEqual([[], []])
  names.put('a', 'w', ['two'])
  names.put('b', 'w', ['one'])
  texts.put('two', 'w', ['bad'])
  expect(settle()).toEqual(['found a two: RangeError: a is bad'])
  expect(stages.faults).toMatchObject([{ stage: 'found', key: 'a', rows: ['two'] }])
  expect([found.rows('a'), found.rows('a-early'), found.rows('b')]).toEqual([['1'], ['one'], ['1']])
  texts.put('one', 'w', ['other'])
  expect([settle(), found.rows('a'), found.rows('b')]).toEqual([[], ['1'], ['other']])
})

test('a node that threw runs again when what it read changes, and ends with its rows', () => {
  const { names, texts, found, stages, settle } = throwing()
  names.put('a', 'w', ['one'])
  texts.put('one', 'w', ['bad'])
  expect(settle()).toHaveLength(1)
  expect(found.keys()).toEqual([])
  texts.put('one', 'w', ['good'])
  expect([settle(), stages.faults, found.rows('a')]).toEqual([[], [], ['good']])
  texts.put('one', 'w', ['bad'])
  expect(settle()).toHaveLength(1)
  names.put('a', 'w', [])
  expect([settle(), stages.faults, found.keys()]).toEqual([[], [], []])
  texts.put('one', 'w', ['other'])
  expect(settle()).toEqual([])
})
