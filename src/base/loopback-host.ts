const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|::1|\[::1\])$/

/** Whether a host of a URL or address is this machine, whatever resolves names: what is sent there cannot be read on the way. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host)
}
