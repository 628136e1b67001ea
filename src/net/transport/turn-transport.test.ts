import { expect, test } from 'vitest'
import { flushAll } from '#base/turn.ts'
import { COALESCE_BYTES } from './transport.ts'
import { TurnTransport } from './turn-transport.ts'

class Recorded extends TurnTransport {
  readonly sent: (string | Buffer)[] = []

  get gathered(): number {
    return this.gatheredBytes
  }

  drop(): void {
    this.forget()
  }

  protected sendText(text: string): void {
    this.sent.push(text)
  }

  protected sendBytes(bytes: Buffer): void {
    this.sent.push(bytes)
  }
}

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve))

test('what is written in one turn leaves in one write behind everything else that the turn brings', async () => {
  const [one, other] = [new Recorded(), new Recorded()]
  const piece = Buffer.from('[piece]')
  one.writeText('head ')
  other.writeText('other')
  one.writeBytes(piece, 1, 6)
  piece.fill(0)
  await Promise.resolve()
  one.writeText(' end')
  expect([one.sent, other.sent, one.gathered]).toEqual([[], [], 14])
  await endOfTurn()
  expect([one.sent, other.sent, one.gathered]).toEqual([['head piece end'], ['other'], 0])
})

test('more than one write is worth leaves at once, in order', () => {
  const transport = new Recorded()
  const large = Buffer.alloc(COALESCE_BYTES + 1, 'x')
  transport.writeText('a')
  transport.writeBytes(large, 0, large.length)
  large.fill('y')
  transport.writeText('b')
  transport.writeText('c'.repeat(COALESCE_BYTES))
  transport.writeText('')
  flushAll()
  expect(transport.sent.map(String)).toEqual(['a', 'x'.repeat(large.length), `b${'c'.repeat(COALESCE_BYTES)}`])
})

test('forgotten bytes go nowhere, and later ones do', async () => {
  const transport = new Recorded()
  transport.writeText('lost')
  transport.drop()
  transport.writeText('kept')
  await endOfTurn()
  expect(transport.sent).toEqual(['kept'])
})

test('a flush that makes others wait is followed by theirs in the same turn', () => {
  const second = new Recorded()
  const first = new (class extends Recorded {
    protected override sendText(text: string): void {
      super.sendText(text)
      second.writeText('then')
    }
  })()
  first.writeText('first')
  flushAll()
  expect(second.sent).toEqual(['then'])
})
