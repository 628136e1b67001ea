import type { PlainTransports } from './plain-transports.ts'
import { probeDirect } from './probe-direct.ts'
import { STREAM_TRANSPORTS } from './stream-transports.ts'

/** `auto`: direct transports where they work. */
export type TransportSetting = 'auto' | 'streams'

export interface TransportChoice {
  readonly transports: PlainTransports
  /** Why direct transports are not used; undefined if they are. */
  readonly fallbackReason: string | undefined
}

/** Chooses how a thread reads and writes plain sockets. Runs in each thread, because direct access must work in that thread. */
export async function chooseTransports(
  setting: TransportSetting,
  probe: () => Promise<PlainTransports> = probeDirect,
): Promise<TransportChoice> {
  if (setting === 'streams') return { transports: STREAM_TRANSPORTS, fallbackReason: 'chosen by the setting' }
  try {
    return { transports: await probe(), fallbackReason: undefined }
  } catch (error) {
    return { transports: STREAM_TRANSPORTS, fallbackReason: error instanceof Error ? error.message : String(error) }
  }
}
