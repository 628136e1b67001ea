/**
 * Runs h2spec against a listener of the gateway, and against a server of node:http2 alone. A case that both fail is Node's: its
 * HTTP/2 (nghttp2) decides about frames before any of our code sees them. A case that only the gateway fails is a fault.
 */
import { once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { listen } from '#net/accept/listener.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { answerWith, RecordingHandler, TextSink } from '#net/testing/recording-handler.ts'
import { runCases } from './run-cases.ts'
import { findTool } from './tool.ts'

const ANSWER = 'hello'

async function startListener() {
  const context = tls.createSecureContext(CERTIFICATES.server)
  const alpnProtocols = ['h2', 'http/1.1']
  const handler = new RecordingHandler((stream) => {
    const sink = new TextSink()
    sink.onEnd = () => answerWith(stream, ANSWER)
    stream.body.pipe(sink)
  })
  const choose = () => ({ context, alpnProtocols, clientCertificate: 'none', carries: 'http' }) as const
  const listener = await listen({ host: '127.0.0.1', port: 0, handler, traffic: { choose } })
  return { port: listener.port, close: () => listener.close() }
}

async function startNode() {
  const server = http2.createSecureServer(CERTIFICATES.server)
  const sessions = new Set<http2.ServerHttp2Session>()
  server.on('session', (session) => sessions.add(session))
  server.on('sessionError', () => {})
  server.on('stream', (stream: http2.ServerHttp2Stream) => {
    stream.on('error', () => {})
    stream.on('end', () => {
      if (stream.closed || stream.destroyed) return
      stream.respond({ ':status': 200 })
      stream.end(ANSWER)
    })
    stream.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    for (const session of sessions) session.destroy()
    server.close()
  }
  return { port: (server.address() as AddressInfo).port, close }
}

async function main(): Promise<number> {
  const tool = findTool()
  const gateway = await startListener()
  const node = await startNode()
  const ours = await runCases(tool, gateway.port)
  const nodes = await runCases(tool, node.port)
  await Promise.all([gateway.close(), node.close()])
  let faults = 0
  for (const [name, seen] of ours.failed) {
    const isNodes = nodes.failed.has(name)
    if (!isNodes) faults++
    console.log(`${isNodes ? 'node ' : 'FAULT'}  ${name}\n       seen: ${seen}`)
  }
  console.log(`${ours.ran.length} cases, ${ours.failed.size} failed, ${faults} of them not by node:http2 itself`)
  console.log(`node:http2 alone: ${nodes.ran.length} cases, ${nodes.failed.size} failed`)
  return faults === 0 && ours.ran.length > 0 ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 2
}
