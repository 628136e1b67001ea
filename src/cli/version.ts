import { VERSION } from '#instance/version.ts'
import { chooseTransports } from '#net/transport/choose-transports.ts'
import { transportSetting } from './transport-setting.ts'

/** Output of `version`; with `verbose`, also the runtime and the transport of connections without TLS. */
export async function versionLines(verbose: boolean): Promise<readonly string[]> {
  const first = `gatewright ${VERSION}`
  if (!verbose) return [first]
  const { transports, fallbackReason } = await chooseTransports(transportSetting(process.env))
  const why = fallbackReason === undefined ? '' : ` (${fallbackReason})`
  return [
    first,
    `runtime    Node ${process.version}, ${process.platform} ${process.arch}`,
    `code       ${import.meta.url.endsWith('.ts') ? 'source' : 'bundle'}`,
    `transport  ${transports.kind}${why}`,
  ]
}
