import { expect, test } from 'vitest'
import { PathTree } from './path-tree.ts'

function treeOf(...prefixes: readonly string[]): (path: string) => string[] {
  const tree = new PathTree<string>()
  for (const prefix of prefixes) tree.atPrefix(prefix, () => prefix)
  return (path) => {
    const found: string[] = []
    const count = tree.find(path, found)
    return found.slice(0, count)
  }
}

const api = treeOf('/', '/api', '/api/v1')

test.each([
  ['/', ['/']],
  ['/other', ['/']],
  ['/api', ['/', '/api']],
  ['/api/', ['/', '/api']],
  ['/api/x', ['/', '/api']],
  ['/apiary', ['/']],
  ['/api%2Fv1', ['/']],
  ['/API', ['/']],
  ['/api/v1', ['/', '/api', '/api/v1']],
  ['/api/v1/users/7', ['/', '/api', '/api/v1']],
  ['/api/v1x', ['/', '/api']],
  ['/api//v1', ['/', '/api']],
  ['//api', ['/']],
  ['*', ['/']],
])('the prefixes of %s are %j', (path, prefixes) => {
  expect(api(path)).toEqual(prefixes)
})

test('a trailing slash is not part of a prefix', () => {
  const find = treeOf('/api/')
  expect(find('/api')).toEqual(['/api/'])
  expect(find('/api/x')).toEqual(['/api/'])
  expect(find('/')).toEqual([])
})

test('a prefix with and without a trailing slash has one value', () => {
  const tree = new PathTree<string[]>()
  tree.atPrefix('/a', () => []).push('first')
  tree.atPrefix('/a/', () => []).push('second')
  const found: string[][] = []
  expect(tree.find('/a', found)).toBe(1)
  expect(found[0]).toEqual(['first', 'second'])
})

test('results of an earlier search are not counted', () => {
  const tree = new PathTree<string>()
  tree.atPrefix('/', () => 'root')
  tree.atPrefix('/a/b', () => 'deep')
  const found: string[] = []
  expect(tree.find('/a/b/c', found)).toBe(2)
  expect(tree.find('/x', found)).toBe(1)
  expect(found[0]).toBe('root')
})

test('segments with the same hash are distinguished', () => {
  // 'Aa' and 'BB' have the same hash, as do their repetitions.
  const find = treeOf('/Aa', '/BB', '/Aa/BB', '/AaAa', '/BBBB')
  expect(find('/Aa')).toEqual(['/Aa'])
  expect(find('/BB/x')).toEqual(['/BB'])
  expect(find('/Aa/BB')).toEqual(['/Aa', '/Aa/BB'])
  expect(find('/Aa/Aa')).toEqual(['/Aa'])
  expect(find('/BBBB')).toEqual(['/BBBB'])
  expect(find('/AaBB')).toEqual([])
})

test.each([
  ['/', ['prefix /', 'path /']],
  ['/api', ['prefix /', 'prefix /api', 'path /api']],
  ['/api/', ['prefix /', 'prefix /api', 'path /api/']],
  ['/api/x', ['prefix /', 'prefix /api']],
  ['/api//', ['prefix /', 'prefix /api']],
  ['/a/b', ['prefix /', 'path /a/b']],
  ['/a', ['prefix /']],
  ['/a/b/c', ['prefix /']],
  ['/a/b/', ['prefix /']],
  ['//', ['prefix /']],
  ['/A/b', ['prefix /']],
  ['*', ['prefix /']],
  ['', ['prefix /']],
])('the exact path comes after its prefixes: %s', (path, expected) => {
  const tree = new PathTree<string>()
  for (const prefix of ['/', '/api']) tree.atPrefix(prefix, () => `prefix ${prefix}`)
  for (const whole of ['/', '/api', '/api/', '/a/b']) tree.atPath(whole, () => `path ${whole}`)
  const found: string[] = []
  const count = tree.find(path, found)
  expect(found.slice(0, count)).toEqual(expected)
})
