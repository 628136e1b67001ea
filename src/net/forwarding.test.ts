import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startForwarding } from './testing/forwarding-rig.ts'
import { type Accepted, answering, echo } from './testing/raw-peers.ts'

test('a request and its response; both connections stay open', async () => {
  const { connect, upstream, proxy } = await startForwarding(echo)
  const client = await connect()
  client.send('GET /a HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.until((text) => text.endsWith('got /a 0'))
  client.send('GET /b HTTP/1.1\r\nHost: x\r\n\r\n')
  const text = await client.until((text) => text.endsWith('got /b 0'))
  expect(text).toBe(
    ['/a', '/b'].map((path) => `HTTP/1.1 200 OK\r\ncontent-length: 8\r\nX-A: 1\r\n\r\ngot ${path} 0`).join(''),
  )
  expect(upstream.connections).toBe(1)
  expect(proxy.events).toEqual(['finished /a 8', 'finished /b 8'])
})

test('pipelined requests are answered in order', async () => {
  const { connect } = await startForwarding(echo)
  const client = await connect()
  client.send(
    'GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc' +
      'POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\nGET /4 HTTP/1.1\r\nHost: x\r\n\r\n',
  )
  const text = await client.until((text) => text.endsWith('got /4 0'))
  expect(text.match(/got \/\d \d+/g)).toEqual(['got /1 0', 'got /2 3', 'got /3 12', 'got /4 0'])
})

const BIG = Array.from({ length: 3000 }, (_, i) => `${i}`.padStart(1024, '.')).join('')

test.each(['Content-Length', 'chunked'])('3 MB both ways, %s', async (framing) => {
  const { connect } = await startForwarding(
    answering((_, body) =>
      framing === 'chunked'
        ? `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`
        : `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ),
  )
  const body = framing === 'chunked' ? `${BIG.length.toString(16)}\r\n${BIG}\r\n0\r\n\r\n` : BIG
  const line = framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${BIG.length}`
  const client = await connect()
  client.send(`POST / HTTP/1.1\r\nHost: x\r\n${line}\r\n\r\n${body}`)
  await client.until((text) => text.length >= body.length + 40 && text.endsWith(body.slice(-20)))
  expect(client.text.slice(client.text.indexOf('\r\n\r\n') + 4) === body).toBe(true)
})

test('a slow reader pauses the upstream instead of filling memory', async () => {
  let sent = 0
  let stalled = false
  const { connect } = await startForwarding(({ socket }) => {
    const chunk = Buffer.alloc(65_536, 'x')
    const pump = () => {
      while (sent < 64 * 1024 * 1024) {
        sent += chunk.length
        if (!socket.write(chunk)) {
          stalled = true
          return
        }
      }
    }
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${64 * 1024 * 1024}\r\n\r\n`)
      socket.on('drain', pump)
      pump()
    })
  })
  const client = await connect()
  client.socket.pause()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  let before = -1
  while (sent !== before || !stalled) {
    before = sent
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  // The buffers of the kernel on both sides, and one read in between.
  expect(sent).toBeLessThan(32 * 1024 * 1024)
  let received = 0
  client.socket.removeAllListeners('data')
  client.socket.on('data', (bytes) => {
    received += bytes.length
  })
  client.socket.resume()
  while (received < 64 * 1024 * 1024) await new Promise((resolve) => setTimeout(resolve, 20))
  expect(sent).toBe(64 * 1024 * 1024)
})

test('a chunked response is relayed as it arrives, without trailers', async () => {
  const { connect } = await startForwarding((peer) => {
    peer.socket.once('data', async () => {
      const parts = [
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nWi',
        'ki\r\n5\r\npe',
        'dia\r\n0\r\nX: y\r\n\r\n',
      ]
      for (const part of parts) {
        peer.send(part)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    })
  })
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const text = await client.until((text) => text.endsWith('0\r\n\r\n'))
  expect(text).toBe('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nWiki\r\n5\r\npedia\r\n0\r\n\r\n')
})

test('a response that ends with its connection is sent in chunks, and the client connection stays open', async () => {
  const { connect } = await startForwarding((peer) => {
    peer.socket.once('data', () => peer.socket.end('HTTP/1.1 200 OK\r\n\r\nuntil close'))
  })
  const client = await connect()
  for (let turn = 1; turn <= 2; turn++) {
    client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await client.until((text) => text.split('0\r\n\r\n').length === turn + 1)
  }
  expect(client.text).toBe(
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nb\r\nuntil close\r\n0\r\n\r\n'.repeat(2),
  )
})

test.each([
  ['a length that is not reached', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012', '012'],
  ['chunks that do not end', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n012\r\n', '012\r\n'],
])('a truncated upstream body aborts the client response: %s', async (_, response, end) => {
  const { connect, proxy } = await startForwarding((peer) => {
    peer.socket.once('data', () => {
      peer.send(response)
      setTimeout(() => peer.socket.destroy(), 20)
    })
  })
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const text = await client.untilEnd()
  expect(text.endsWith(end)).toBe(true)
  expect(proxy.events).toEqual(['aborted reset'])
})

test('a body without length that ends with a reset does not look complete', async () => {
  const { connect } = await startForwarding((peer) => {
    peer.socket.once('data', () => {
      peer.send('HTTP/1.1 200 OK\r\n\r\nhalf')
      setTimeout(() => peer.socket.resetAndDestroy(), 20)
    })
  })
  const newer = await connect()
  newer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(await newer.untilEnd()).not.toContain('0\r\n\r\n')
  const older = await connect()
  older.send('GET / HTTP/1.0\r\nHost: x\r\n\r\n')
  await older.untilClosed()
  expect(older.wasReset).toBe(true)
})

test.each([
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 'HTTP/1.1 204 No Content\r\n\r\n', 1],
  ['204 with a length', 'HTTP/1.1 204 X\r\nContent-Length: 0\r\n\r\n', 'HTTP/1.1 204 X\r\n\r\n', 1],
  ['304', 'HTTP/1.1 304 X\r\n\r\n', 'HTTP/1.1 304 X\r\n\r\n', 1],
  // The server may send the announced body.
  [
    '304 with a length',
    'HTTP/1.1 304 X\r\nContent-Length: 9\r\n\r\n',
    'HTTP/1.1 304 X\r\nContent-Length: 9\r\n\r\n',
    3,
  ],
  ['no length but 0', 'HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n', 'HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n', 1],
])('a response without body keeps the client connection: %s', async (_, response, expected, connections) => {
  const { connect, upstream } = await startForwarding(answering(() => response))
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3))
  await client.until((text) => text === expected.repeat(3))
  expect(upstream.connections).toBe(connections)
})

test('HEAD, then GET on the same connections', async () => {
  const { connect, upstream } = await startForwarding(
    answering((head) => `HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n${head.startsWith('HEAD') ? '' : '0123456789'}`),
  )
  const client = await connect()
  client.send('HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const text = await client.until((text) => text.endsWith('0123456789'))
  expect(text).toBe(`${'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'.repeat(2)}0123456789`)
  expect(upstream.connections).toBe(1)
})

test('interim responses go through, 100 does not', async () => {
  const { connect } = await startForwarding(
    answering(
      () =>
        'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n' +
        'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
    ),
  )
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const text = await client.until((text) => text.endsWith('ok'))
  expect(text).toBe(
    'HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n' +
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
  )
})

test('Expect: 100-continue is answered by the gateway and not forwarded', async () => {
  let seen = ''
  const { connect } = await startForwarding(
    answering((head, body) => {
      seen = head
      return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    }),
  )
  const client = await connect()
  client.send('POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n')
  await client.until((text) => text === 'HTTP/1.1 100 Continue\r\n\r\n')
  client.send('hello')
  await client.until((text) => text.endsWith('hello'))
  expect(seen.toLowerCase()).not.toContain('expect')
})

test('an HTTP/1.0 client gets a chunked response without chunks', async () => {
  const { connect } = await startForwarding(
    answering(() => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1\r\n!\r\n0\r\n\r\n'),
  )
  const client = await connect()
  client.send('GET / HTTP/1.0\r\nHost: x\r\n\r\n')
  expect(await client.untilEnd()).toBe('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok!')
})

test('an HTTP/1.0 upstream gets HTTP/1.1 requests, and its response is forwarded', async () => {
  const { connect } = await startForwarding((peer) => {
    peer.socket.once('data', () => peer.socket.end('HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  })
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(await client.until((text) => text.endsWith('ok'))).toBe('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
})

const BAD_RESPONSES = [
  'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\nContent-Length: 0\n\n',
  'HTTP/2.0 200 OK\r\n\r\n',
  'SSH-2.0-OpenSSH\r\n',
  'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  'HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n',
]

test.each(BAD_RESPONSES)('an invalid upstream response becomes 503: %j', async (response) => {
  const { connect, proxy } = await startForwarding(answering(() => response))
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.until((text) => text.startsWith('HTTP/1.1 503 Service Unavailable\r\n') && text.endsWith('failed'))
  expect(proxy.events[0]).toBe('failed protocol-error sent')
})

test('bytes after a response are not used as the next one', async () => {
  const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n'
  const { connect, upstream } = await startForwarding(answering(() => `${answer}ok${answer}no`))
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(await client.until((text) => text.split('ok').length === 3)).toBe(`${answer}ok`.repeat(2))
  expect(upstream.connections).toBe(2)
})

test('bytes on an idle connection end it', async () => {
  const { connect, upstream } = await startForwarding((peer) => {
    peer.socket.once('data', () => {
      peer.send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
      setTimeout(() => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno'), 20)
    })
  })
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.until((text) => text.endsWith('ok'))
  await new Promise((resolve) => setTimeout(resolve, 60))
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.until((text) => text.split('ok').length === 3)
  expect(upstream.connections).toBe(2)
})

/** Answers the first request of every connection, and closes it silently at the second. */
function closesOnSecond(peer: Accepted): void {
  let requests = 0
  answering((head) => {
    if (++requests === 2) {
      peer.socket.destroy()
      return ''
    }
    const { method = '' } = /^(?<method>\S+)/.exec(head)?.groups ?? {}
    return `HTTP/1.1 200 OK\r\ncontent-length: ${method.length}\r\n\r\n${method}`
  })(peer)
}

test.each([
  ['GET', '', true],
  ['PUT', 'hello', true],
  ['DELETE', '', true],
  ['POST', '', false],
  ['PATCH', 'hello', false],
  ['PUT', 'x'.repeat(20_000), false],
])('a stale pooled connection: %s with %j is sent again: %s', async (method, body, again) => {
  const { connect, upstream, proxy } = await startForwarding(closesOnSecond)
  const client = await connect()
  const request = `${method} / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  client.send(request)
  await client.until((text) => text.endsWith(method))
  client.send(request)
  await client.until((text) => text.split('HTTP/1.1 ').length === 3 && text.endsWith(again ? method : 'failed'))
  expect(upstream.connections).toBe(again ? 2 : 1)
  expect(proxy.events.filter((event) => event.startsWith('failed'))).toEqual(again ? [] : ['failed reset sent'])
})

test.each([
  ['whole', 'abc', true],
  ['incomplete', '', false],
])('a small request in pieces, %s when its connection is found closed', async (_, rest, again) => {
  const { connect, upstream, proxy } = await startForwarding((peer, index) => {
    const seen = { text: '' }
    let requests = 0
    peer.socket.on('data', (bytes) => {
      seen.text += bytes.toString('latin1')
      if (!seen.text.endsWith(requests === 0 || rest !== '' ? 'abcabc' : 'abc')) return
      if (index === 0 && requests > 0) return peer.socket.destroy()
      requests++
      seen.text = ''
      peer.send('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone')
    })
  })
  const client = await connect()
  const head = 'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n'
  client.send(`${head}abcabc`)
  await client.until((text) => text.endsWith('done'))
  client.send(`${head}abc`)
  if (rest !== '') {
    await sleep(30)
    client.send(rest)
  }
  await client.until((text) => text.split('HTTP/1.1 ').length === 3 && text.endsWith(again ? 'done' : 'failed'))
  expect(upstream.connections).toBe(again ? 2 : 1)
  expect(proxy.events.filter((event) => event.startsWith('failed'))).toEqual(again ? [] : ['failed reset sent'])
})

test('a request on a new connection that closes is not sent again', async () => {
  const { connect, upstream } = await startForwarding((peer) => {
    peer.socket.once('data', () => peer.socket.destroy())
  })
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.until((text) => text.endsWith('failed'))
  expect(upstream.connections).toBe(1)
})

test('a refused connection fails unsent', async () => {
  const { connect, proxy, upstream } = await startForwarding(echo)
  upstream.close()
  const client = await connect()
  client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab')
  await client.until((text) => text.endsWith('failed'))
  expect(proxy.events[0]).toBe('failed connection-refused unsent')
})

test('a response head that does not arrive in time', async () => {
  const { connect, proxy } = await startForwarding(() => {})
  proxy.responseTimeoutMs = 100
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.until((text) => text.startsWith('HTTP/1.1 504 '))
  expect(proxy.events[0]).toBe('failed timeout sent')
})

test('a client that disconnects cancels its upstream request', async () => {
  let gone: () => void = () => {}
  const left = new Promise<void>((resolve) => {
    gone = resolve
  })
  const { connect, proxy } = await startForwarding((peer) => {
    peer.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n')
    peer.socket.on('end', gone)
  })
  const client = await connect()
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.until((text) => text.endsWith('a\r\n'))
  client.socket.resetAndDestroy()
  await left
  expect(proxy.events).toEqual(['aborted reset'])
})

test('an early response ends an upload and is not lost', async () => {
  const { connect, upstream } = await startForwarding((peer) => {
    peer.socket.once('data', () => peer.send('HTTP/1.1 413 X\r\ncontent-length: 3\r\n\r\nbig'))
  })
  const client = await connect()
  client.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n${'x'.repeat(500_000)}`)
  await client.until((text) => text.endsWith('big'))
  client.socket.write('x'.repeat(100_000))
  expect(await client.untilEnd()).toBe('HTTP/1.1 413 X\r\ncontent-length: 3\r\nconnection: close\r\n\r\nbig')
  expect(upstream.connections).toBe(1)
})
