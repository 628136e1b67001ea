import dns from 'node:dns'
import tls from 'node:tls'

/**
 * For `node --import`: hosts of the cloud are at 127.0.0.1, where the port of the variable stands for 443. Agent runtimes have no other address,
 * and tests reach no server outside of this machine.
 */
const port = Number(process.env.LOOPBACK_RUNTIME_PORT)
const IS_CLOUD = /\.amazonaws\.com(?:\.cn)?$/

const { resolve4, resolve6 } = dns.Resolver.prototype
const NOT_FOUND = Object.assign(new Error('no such record'), { code: 'ENOTFOUND' })

dns.Resolver.prototype.resolve4 = function (this: dns.Resolver, name: string, ...rest: never[]) {
  if (!IS_CLOUD.test(name)) return Reflect.apply(resolve4, this, [name, ...rest])
  const done = rest.at(-1) as unknown as (error: null, records: readonly dns.RecordWithTtl[]) => void
  process.nextTick(done, null, [{ address: '127.0.0.1', ttl: 60 }])
} as typeof resolve4

dns.Resolver.prototype.resolve6 = function (this: dns.Resolver, name: string, ...rest: never[]) {
  if (!IS_CLOUD.test(name)) return Reflect.apply(resolve6, this, [name, ...rest])
  process.nextTick(rest.at(-1) as unknown as (error: Error) => void, NOT_FOUND)
} as typeof resolve6

const { connect } = tls
tls.connect = ((options: tls.ConnectionOptions) =>
  connect(options.host === '127.0.0.1' && options.port === 443 ? { ...options, port } : options)) as typeof connect
