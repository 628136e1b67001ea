import type { Predecessor } from '#instance/options.ts'
import type { ListeningSocket } from '#plan/socket.ts'
import { FIRST_SOCKET, type FromSuccessor, PREDECESSOR, type ToSuccessor } from './messages.ts'

/** A gateway that started this process to be replaced by it. */
export interface JoinedPredecessor extends Predecessor {
  /** The key that seals its MCP session ids. */
  readonly sessionKey: Uint8Array
  /** Others can replace this process now: the command that asked for it ends. */
  leave(): void
}

/** The parts of `process` that connect it with the one that started it. */
export type Channel = Pick<NodeJS.Process, 'ppid' | 'on' | 'send' | 'disconnect' | 'connected' | 'removeAllListeners'>

function isConnected(channel: Channel): channel is Required<Channel> {
  return channel.send !== undefined
}

/**
 * Learns from the gateway that started this process what it inherits.
 * @param environment its mark is removed, because it is not for processes that this one starts
 * @returns undefined: no gateway did, or it has ended
 */
export async function joinPredecessor(
  environment: NodeJS.ProcessEnv,
  channel: Channel = process,
): Promise<JoinedPredecessor | undefined> {
  const mark = environment[PREDECESSOR]
  delete environment[PREDECESSOR]
  if (mark === undefined || mark !== String(channel.ppid) || !isConnected(channel)) return undefined
  const start = Promise.withResolvers<Extract<ToSuccessor, { kind: 'start' }> | undefined>()
  const over = Promise.withResolvers<void>()
  channel.on('message', (message) => {
    const told = message as ToSuccessor
    if (told.kind === 'start') start.resolve(told)
    else over.resolve()
  })
  // It was killed: its sockets and its state folder are free for this process.
  channel.on('disconnect', () => {
    start.resolve(undefined)
    over.resolve()
  })
  const tell = (message: FromSuccessor) => {
    if (channel.connected) channel.send(message)
  }
  const leave = () => {
    channel.removeAllListeners('message')
    channel.removeAllListeners('disconnect')
    if (channel.connected) channel.disconnect()
  }
  const given = await start.promise
  if (given === undefined) return undefined
  const { traffic, operators, isReady, sessionKey } = given
  return {
    traffic: numbered(traffic, FIRST_SOCKET),
    operators: numbered(operators, FIRST_SOCKET + traffic.length),
    isReady,
    sessionKey: Buffer.from(sessionKey, 'hex'),
    async takeOver() {
      tell({ kind: 'running' })
      await over.promise
    },
    leave,
    failed(cause) {
      tell({ kind: 'failed', cause })
      leave()
    },
  }
}

function numbered(keys: readonly string[], first: number): ListeningSocket[] {
  return keys.map((socket, i) => ({ socket, descriptor: first + i }))
}
