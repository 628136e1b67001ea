import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { COLLECTIONS, collectionsIn } from './collections.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const isProduct = (path: string) => path.endsWith('.ts') && !/\.test\.ts$|(?:^|\/)testing(?:\.ts$|\/)/.test(path)

test('every collection that lasts has a bound', () => {
  const paths = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(isProduct)
  const found = paths.flatMap((path) => collectionsIn(path, readFileSync(join(ROOT, 'src', path), 'utf8')))
  const unbounded = found.filter((name) => COLLECTIONS[name] === undefined)
  expect(unbounded, 'say in test/architecture/collections.ts who fills it').toEqual([])
  expect(Object.keys(COLLECTIONS).filter((name) => !found.includes(name))).toEqual([])
})

test('a test floods every collection that peers fill', () => {
  for (const [name, filled] of Object.entries(COLLECTIONS)) {
    if (typeof filled !== 'string') expect(existsSync(join(ROOT, filled.flood)), `${name}: ${filled.flood}`).toBe(true)
  }
})

test.each([
  ['proxy/x.ts', '  readonly #a: Map<string, () => void> = new Map()', ['proxy/x #a']],
  ['proxy/x.ts', '  #b: string[] = []', ['proxy/x #b']],
  ['net/x.ts', 'const c = new Set<string>()', ['net/x c']],
  ['net/x.ts', '  readonly #h = new LinkedList<Item>()', ['net/x #h']],
  ['net/x.ts', 'function f() {\n  const d: string[] = []\n}', []],
  ['protocols/x.ts', 'async function f() {\n    const d: string[] = []\n}', ['protocols/x d']],
  ['policies/x.ts', '    e: new Map(),', ['policies/x e']],
  ['net/x.ts', '    this.#i ??= new Map()', ['net/x #i']],
  ['policies/x.ts', '  readonly #f: Readonly<Record<A, Set<B>>> = { a: new Set(), b: new Set() }', ['policies/x #f']],
  ['cli/x.ts', '  #g: string[] = []', []],
  ['net/x.ts', 'const NOTHING: readonly string[] = []', []],
])('in %s, %j', (path, text, found) => expect(collectionsIn(path, text)).toEqual(found))
