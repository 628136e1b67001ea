import { clock } from '#base/clock.ts'
import type { ConnectFailure } from '../failure.ts'
import { ASSUMED_STREAMS, type ClientSession, type SessionOwner } from '../node-http2/client-session.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import { dialPod, type PodPlace } from './dial-pod.ts'
import { meshContext } from './mesh-context.ts'
import type { MeshMaterial } from './mesh-material.ts'
import type { MeshMember } from './mesh-member.ts'
import { TunnelRequest, type TunnelRequestOptions } from './tunnel-request.ts'

export interface PodTunnelsSettings {
  readonly member: MeshMember
  readonly wheel: TimerWheel
  /** How long a session without tunnels is kept. */
  readonly idleTimeoutMs: number
}

export interface TunnelOptions extends TunnelRequestOptions {
  /** Limits the time for a session with the pod. The caller limits the time for the tunnel, with `TunnelRequest.cancel`. */
  readonly timeoutMs: number
}

/**
 * The tunnels of one worker to the pods of a mesh (HBONE): streams of HTTP/2 sessions under mutual TLS 1.3. A session is used by all tunnels to
 * the same pod and identity; further ones are opened when the pod allows no more streams.
 */
export class PodTunnels {
  readonly #settings: PodTunnelsSettings
  readonly #pods = new Map<string, Pod>()

  constructor(settings: PodTunnelsSettings) {
    this.#settings = settings
  }

  /** Opens a tunnel. `done` is not called before this returns. */
  open(place: PodPlace, options: TunnelOptions): TunnelRequest {
    const key = `${place.host}:${place.port} ${place.identity}`
    let pod = this.#pods.get(key)
    if (pod === undefined) {
      const opened = new Pod(place, this.#settings, () => {
        // Another one may have replaced it.
        if (this.#pods.get(key) === opened) this.#pods.delete(key)
      })
      pod = opened
      this.#pods.set(key, pod)
    }
    return pod.open(options)
  }

  /** Closes the sessions when their tunnels end. */
  close(): void {
    for (const pod of [...this.#pods.values()]) pod.close()
  }
}

const NOT_A_MEMBER: ConnectFailure = {
  code: 'mesh-certificate-missing',
  detail: 'the pod is in the mesh, and this gateway has no certificate of the mesh',
}

const EXPIRED: ConnectFailure = {
  code: 'mesh-certificate-missing',
  detail: 'the certificate of the mesh of this gateway has expired',
}

const UNUSABLE: ConnectFailure = {
  code: 'mesh-certificate-missing',
  detail: 'the certificate of the mesh of this gateway cannot be used',
}

/** The sessions with one pod. */
class Pod implements SessionOwner {
  readonly #place: PodPlace
  readonly #settings: PodTunnelsSettings
  readonly #forget: () => void
  /** Sessions that accept tunnels. All use the same material. */
  readonly #sessions: ClientSession[] = []
  /** Tunnels that wait for room in a session. */
  readonly #waiting = new Set<TunnelRequest>()
  #material: MeshMaterial | undefined
  #cancelDial: (() => void) | undefined
  readonly #dialLimit = new WheelTimer(() => this.#dialledTooLate())
  #closing = false
  #timeoutMs = 0
  assumedStreams = ASSUMED_STREAMS
  readonly pingMs = undefined

  constructor(place: PodPlace, settings: PodTunnelsSettings, forget: () => void) {
    this.#place = place
    this.#settings = settings
    this.#forget = forget
  }

  get wheel(): TimerWheel {
    return this.#settings.wheel
  }

  get idleTimeoutMs(): number {
    return this.#settings.idleTimeoutMs
  }

  open(options: TunnelOptions): TunnelRequest {
    const request = new TunnelRequest(this, options)
    this.#timeoutMs = options.timeoutMs
    this.place(request)
    return request
  }

  place(request: TunnelRequest): void {
    this.#renew()
    const session = this.#sessions.find(({ hasRoom }) => hasRoom)
    if (session !== undefined) return this.#carry(session, request)
    this.#waiting.add(request)
    this.#connect()
  }

  withdraw(request: TunnelRequest): void {
    this.#waiting.delete(request)
    if (this.#waiting.size > 0) return
    // The pod did not answer in time.
    this.#stopDial()
    this.#forgetIfEmpty()
  }

  limited(streams: number): void {
    this.assumedStreams = Math.min(Math.max(1, streams), ASSUMED_STREAMS)
  }

  rests(session: ClientSession): void {
    if (this.#closing && session.begun) session.drain()
  }

  roomIn(session: ClientSession): void {
    for (const request of this.#waiting) {
      if (!session.hasRoom) break
      this.#waiting.delete(request)
      this.#carry(session, request)
    }
    this.#connect()
  }

  gone(session: ClientSession): void {
    const at = this.#sessions.indexOf(session)
    if (at >= 0) this.#sessions.splice(at, 1)
    this.#connect()
    this.#forgetIfEmpty()
  }

  close(): void {
    this.#closing = true
    for (const session of [...this.#sessions]) session.drain()
  }

  /** New tunnels use sessions with the current material; the others end with their tunnels. */
  #renew(): void {
    const { material } = this.#settings.member
    if (material === this.#material) return
    this.#material = material
    this.#stopDial()
    for (const session of [...this.#sessions]) session.drain()
  }

  #carry(session: ClientSession, request: TunnelRequest): void {
    try {
      session.carry(request)
    } catch {
      // The runtime has destroyed the session, which does not know it yet.
      session.leave(request)
      process.nextTick(() => request.fail({ code: 'tunnel-failed', detail: 'the session with the pod has ended' }))
    }
  }

  /** Opens a session for the waiting tunnels, one at a time. */
  #connect(): void {
    if (this.#waiting.size === 0 || this.#cancelDial !== undefined) return
    // The pod allows no streams at present; another session would not either.
    if (this.#sessions.some(({ isShut }) => isShut)) return
    const context = this.#material === undefined ? NOT_A_MEMBER : (meshContext(this.#material) ?? UNUSABLE)
    if ('code' in context) return this.#failLater(context)
    if (context.expiresMs <= clock.now()) return this.#failLater(EXPIRED)
    this.wheel.arm(this.#dialLimit, this.#timeoutMs)
    let session: ClientSession | null = null
    const expiry = new WheelTimer(() => session?.destroy())
    this.wheel.arm(expiry, context.expiresMs - clock.now())
    this.#cancelDial = dialPod(this.#place, context, {
      owner: this,
      closed: () => this.wheel.remove(expiry),
      done: (opened, failure) => {
        session = opened
        this.#dialled(opened, failure)
      },
    })
  }

  #dialled(session: ClientSession | null, failure: ConnectFailure | null): void {
    this.wheel.remove(this.#dialLimit)
    this.#cancelDial = undefined
    if (session === null) return this.#fail(failure!)
    // It calls `roomIn` next.
    if (session.hasRoom || session.isShut) this.#sessions.push(session)
    else this.#fail({ code: 'tunnel-failed', detail: 'the pod ended the session when it began' })
  }

  #dialledTooLate(): void {
    this.#stopDial()
    this.#fail({ code: 'connect-timeout', detail: `no session with the pod within ${this.#timeoutMs} ms` })
  }

  #stopDial(): void {
    this.wheel.remove(this.#dialLimit)
    this.#cancelDial?.()
    this.#cancelDial = undefined
  }

  #failLater(failure: ConnectFailure): void {
    process.nextTick(() => this.#fail(failure))
  }

  #fail(failure: ConnectFailure): void {
    const failed = [...this.#waiting]
    this.#waiting.clear()
    this.#forgetIfEmpty()
    for (const request of failed) request.fail(failure)
  }

  #forgetIfEmpty(): void {
    if (this.#sessions.length === 0 && this.#waiting.size === 0 && this.#cancelDial === undefined) this.#forget()
  }
}
