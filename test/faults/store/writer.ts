import { writeSync } from 'node:fs'
import { SqliteJournal } from '#store/database/sqlite-journal.ts'
import { ResourceTable, type ResourceWrite } from '#store/resources/resource-table.ts'
import { draw, type Intent, keyOf, readState, textOf } from './writes.ts'

// Writes as fast as it can until it is killed. Each line on standard output is either what it will write, before the write, or the revision that
// the table has acknowledged, after it.

const [file = '', seed = '0'] = process.argv.slice(2)
const { journal, content } = SqliteJournal.open(file, (problem) => {
  throw problem
})
const table = new ResourceTable(journal, content)
const random = draw(Number(seed))

function say(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

function nextIntent(): Intent {
  const count = 1 + random(3)
  const changes = Array.from({ length: count }, () => {
    const name = `object-${random(40)}`
    // Some are longer than a page, a few than the log before a checkpoint.
    const length = [20, 300, 5000, 60_000, 400_000][random(4) + (random(20) === 0 ? 1 : 0)]!
    return { name, length: random(5) === 0 ? undefined : length, seed: random(1_000_000) }
  })
  return {
    inMemory: random(6) === 0,
    changes: changes.filter(({ name }, at) => changes.findIndex((it) => it.name === name) === at),
  }
}

function writesOf({ changes }: Intent): ResourceWrite[] {
  return changes.map(({ name, length, seed: text }) => {
    const metadata = {
      name,
      namespace: 'default',
      uid: name,
      resourceVersion: '',
      creationTimestamp: '2026-01-01T00:00:00Z',
    }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: textOf(text, length ?? 0) } }
    return { key: keyOf(name), object: length === undefined ? undefined : object }
  })
}

say({ found: readState(table), revision: table.revision })
for (;;) {
  const intent = nextIntent()
  say({ intent })
  if (intent.inMemory) {
    // Of an object that is never stored, as those of files are.
    const [write] = writesOf({ inMemory: true, changes: [{ name: 'file', length: 20, seed: random(1_000_000) }] })
    table.commitInMemory([write!])
  } else table.commit(writesOf(intent))
  say({ acknowledged: table.revision })
}
