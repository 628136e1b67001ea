import type { ServiceObject } from '#api/service.ts'

export type ServicePort = NonNullable<ServiceObject['spec']['ports']>[number]

/** The TCP ports of a Service. A port of another protocol may have the same number. */
export function tcpPorts({ spec }: ServiceObject): readonly ServicePort[] {
  return (spec.ports ?? []).filter(({ protocol }) => protocol === 'TCP')
}

/** The TCP port with that number. An ExternalName Service that lists no ports has all of them: they are those of the external server. */
export function findServicePort(service: ServiceObject, number: number): ServicePort | undefined {
  const { type, ports = [] } = service.spec
  if (type === 'ExternalName' && ports.length === 0) return { port: number, protocol: 'TCP' }
  return tcpPorts(service).find(({ port }) => port === number)
}
