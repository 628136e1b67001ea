import { expect, test } from 'vitest'
import { flushAll } from '#base/turn.ts'
import { COALESCE_BYTES } from './transport.ts'
import { TurnTransport } from './turn-transport.ts'

class Recorded extends TurnTransport {
  readonly sent: (string | Buffer)[] = []
  readonly memory: ArrayBufferLike[] = []
  /** The kernel accepts all bytes. */
  takes = true

  get gathered(): number {
    return this.gatheredBytes
  }

  drop(): void {
    this.forget()
  }

  protected sendText(text: string): void {
    this.sent.push(text)
  }

  protected sendBytes(bytes: Buffer): boolean {
    this.sent.push(this.takes ? Buffer.from(bytes) : bytes)
    this.memory.push(bytes.buffer)
    return this.takes
  }
}

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve))

test('all output of a turn is sent in one write at the end of the turn', async () => {
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

test('output larger than one write is sent at once, in order', () => {
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

test('larger pieces are collected as bytes, with text before and after them', async () => {
  const transport = new Recorded()
  const piece = Buffer.alloc(5000, 'x')
  transport.writeText('h\u00e9ad ')
  transport.writeBytes(piece, 10, 5000)
  piece.fill(0)
  transport.writeText(' \u00e9')
  transport.writeBytes(Buffer.from('nd'), 0, 2)
  transport.writeText('')
  expect([transport.sent, transport.gathered]).toEqual([[], 5 + 4990 + 4])
  await endOfTurn()
  expect(transport.sent).toEqual([Buffer.from(`h\u00e9ad ${'x'.repeat(4990)} \u00e9nd`, 'latin1')])
})

test('a block is sent before output that does not fit into it', () => {
  const transport = new Recorded()
  for (const letter of 'abc') transport.writeBytes(Buffer.alloc(7000, letter), 0, 7000)
  transport.writeText('d'.repeat(COALESCE_BYTES - 7000))
  transport.writeText('e')
  flushAll()
  const sent = ['a'.repeat(7000) + 'b'.repeat(7000), 'c'.repeat(7000) + 'd'.repeat(COALESCE_BYTES - 7000), 'e']
  expect(transport.sent.map(String)).toEqual(sent)
})

test('the memory of a block is reused only after it has been sent', () => {
  const [quick, slow] = [new Recorded(), new Recorded()]
  slow.takes = false
  const write = (transport: Recorded, letter: string) => {
    transport.writeBytes(Buffer.alloc(5000, letter), 0, 5000)
    flushAll()
  }
  write(quick, 'a')
  write(quick, 'b')
  write(slow, 'c')
  write(quick, 'd')
  expect([quick.memory[1] === quick.memory[0], slow.memory[0] === quick.memory[1]]).toEqual([true, true])
  expect(quick.memory[2]).not.toBe(slow.memory[0])
  expect(slow.sent.map(String)).toEqual(['c'.repeat(5000)])
})

test('the memory of a discarded block is reused', () => {
  const [gone, next] = [new Recorded(), new Recorded()]
  next.writeBytes(Buffer.alloc(5000), 0, 5000)
  flushAll()
  gone.writeBytes(Buffer.alloc(5000), 0, 5000)
  gone.drop()
  flushAll()
  next.writeBytes(Buffer.alloc(5000), 0, 5000)
  flushAll()
  expect([gone.sent, gone.gathered]).toEqual([[], 0])
  expect(next.memory[1]).toBe(next.memory[0])
})

test('discarded bytes are not sent, later ones are', async () => {
  const transport = new Recorded()
  transport.writeText('lost')
  transport.drop()
  transport.writeText('kept')
  await endOfTurn()
  expect(transport.sent).toEqual(['kept'])
})

test('output written during a flush is flushed in the same turn', () => {
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
