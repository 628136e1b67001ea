import { expect, test } from 'vitest'
import { DocumentNames, documentFormat } from './write-parts.ts'

test('names have only characters that the API accepts, and are all different', () => {
  const names = new DocumentNames()
  const given: [given: string | undefined, name: string][] = [
    ['report.pdf', 'report pdf'],
    ['report pdf', 'report pdf [2]'],
    ['report_pdf', 'report pdf [3]'],
    ['report pdf [2]', 'report pdf [2] [2]'],
    ['Größe (1)-[a]  b.md', 'Gr e (1)-[a] b md'],
    [undefined, 'document'],
    ['図', 'document [2]'],
    ['x'.repeat(300), 'x'.repeat(200)],
    ['x'.repeat(300), `${'x'.repeat(196)} [2]`],
  ]
  for (const [name, accepted] of given) expect(names.name(name)).toBe(accepted)
})

test('many documents of the same name take no longer than others', () => {
  const names = new DocumentNames()
  for (let i = 1; i < 100_000; i++) names.name('a')
  expect(names.name('a')).toBe('a [100000]')
})

const data = (mediaType: string) => ({ kind: 'data', mediaType, data: new Uint8Array() }) as const
test.each([
  [data('Application/PDF'), 'a.txt', 'pdf'],
  [data('text/plain; charset=utf-8'), undefined, 'txt'],
  [data('application/octet-stream'), 'a.b.DOCX', 'docx'],
  [data('application/octet-stream'), 'a.htm', 'html'],
  [data('application/zip'), 'a.zip', undefined],
  [data(''), 'constructor', undefined],
  [{ kind: 'text', text: new Uint8Array() } as const, 'notes.md', 'md'],
  [{ kind: 'text', text: new Uint8Array() } as const, 'notes', 'txt'],
])('%o named %s', (source, name, format) => expect(documentFormat(source, name)).toBe(format))
