import { expect, test } from 'vitest'
import { type Linked, LinkedList } from './linked-list.ts'

class Item implements Linked<Item> {
  previous: Item | null = null
  next: Item | null = null
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

function listOf(...names: readonly string[]) {
  const list = new LinkedList<Item>()
  const items = new Map(names.map((name) => [name, new Item(name)]))
  for (const item of items.values()) list.add(item)
  return { list, item: (name: string) => items.get(name)! }
}

const namesIn = (list: LinkedList<Item>) => list.items.map(({ name }) => name)

test.each([
  ['the first', ['a'], ['b', 'c']],
  ['one between', ['b'], ['a', 'c']],
  ['the last', ['c'], ['a', 'b']],
  ['neighbours', ['a', 'b'], ['c']],
  ['one twice', ['b', 'b'], ['a', 'c']],
  ['the first twice', ['a', 'a'], ['b', 'c']],
  ['all', ['b', 'a', 'c'], []],
])('%s leaves', (_, leaving, left) => {
  const { list, item } = listOf('a', 'b', 'c')
  for (const name of leaving) list.delete(item(name))
  expect([namesIn(list), list.size]).toEqual([left, left.length])
})

test('an item that has left refers to no other, and can come again, as the last', () => {
  const { list, item } = listOf('a', 'b', 'c')
  const b = item('b')
  list.delete(b)
  expect([b.previous, b.next]).toEqual([null, null])
  list.add(b)
  expect(namesIn(list)).toEqual(['a', 'c', 'b'])
})

test('a list that was empty takes items again', () => {
  const { list, item } = listOf('a')
  list.delete(item('a'))
  expect([namesIn(list), list.size]).toEqual([[], 0])
  list.add(item('a'))
  expect([namesIn(list), list.size]).toEqual([['a'], 1])
})
