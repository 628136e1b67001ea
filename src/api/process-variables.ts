import { parseByteSize } from '#base/byte-size.ts'
import { parseDuration } from '#base/duration.ts'
import { parseIpAddress } from '#base/ip-address.ts'
import { objectName, validate } from '#schema/index.ts'
import {
  CA_ADDRESS_FORM,
  DEFAULT_CA_ADDRESS,
  isTrustDomain,
  parseCaAddress,
  TRUST_DOMAIN_FORM,
} from './mesh-settings.ts'
import { ADMIN_ADDRESS, CONTROLLER_PORTS, LOOPBACK, OWN_PORTS } from './own-ports.ts'
import { controllerName } from './policy-status.ts'

/** A command that asks the admin server of a running gateway. */
type AskingCommand = 'tail' | 'why' | 'status' | 'top' | 'profile' | 'mcp sessions'

/** An environment variable that commands read. */
export interface ProcessVariable {
  readonly meaning: string
  readonly commands: readonly (
    | 'run'
    | 'proxy'
    | 'controller'
    | 'lint'
    | 'explain'
    | 'render'
    | 'version'
    | 'idp setup'
    | 'idp serve'
    | AskingCommand
  )[]
  /** The form of its value; unset: any text, or a form that its reader checks. */
  readonly form?: VariableForm
}

interface VariableForm {
  /** Completes `must be`. */
  readonly text: string
  readonly isValid: (value: string) => boolean
}

function oneOf(...values: readonly string[]): VariableForm {
  return { text: values.join(' or '), isValid: (value) => values.includes(value) }
}

const ADDRESS: VariableForm = {
  text: `an IP address and a port, such as ${ADMIN_ADDRESS}`,
  isValid(value) {
    const { host, port } = hostAndPort(value)
    return parseIpAddress(host) !== undefined && /^\d{1,5}$/.test(port) && Number(port) <= 65_535
  },
}

/** The parts of `host:port`; an IPv6 address is in brackets. */
export function hostAndPort(text: string): { readonly host: string; readonly port: string } {
  const colon = text.lastIndexOf(':')
  return { host: text.slice(0, Math.max(colon, 0)).replace(/^\[|\]$/g, ''), port: text.slice(colon + 1) }
}

const IP: VariableForm = {
  text: 'an IP address, such as 10.0.0.1',
  isValid: (value) => parseIpAddress(value) !== undefined,
}

const ADDRESS_OR_OFF: VariableForm = {
  text: `${ADDRESS.text}, or off`,
  isValid: (value) => value === 'off' || ADDRESS.isValid(value),
}

const CA: VariableForm = { text: CA_ADDRESS_FORM, isValid: (value) => parseCaAddress(value) !== undefined }
const DOMAIN: VariableForm = { text: TRUST_DOMAIN_FORM, isValid: isTrustDomain }
const SIZE: VariableForm = { text: 'a size, such as 512Mi', isValid: (value) => parseByteSize(value) !== undefined }
const DURATION: VariableForm = {
  text: 'a duration, such as 10s',
  isValid: (value) => parseDuration(value) !== undefined,
}
const CONTROLLER: VariableForm = {
  text: 'a domain and a path, such as example.com/controller',
  isValid: (value) => validate(controllerName(), value).problems.length === 0,
}
const CLASS: VariableForm = {
  text: 'the name of an object, such as gatewright',
  isValid: (value) => validate(objectName(), value).problems.length === 0,
}
const SECONDS: VariableForm = { text: 'a number of seconds, such as 60', isValid: (value) => /^\d{1,8}$/.test(value) }
const MILLISECONDS: VariableForm = {
  text: 'a number of milliseconds, such as 60000',
  isValid: (value) => /^[1-9]\d{0,8}$/.test(value),
}
const KEY: VariableForm = { text: '64 hexadecimal digits', isValid: (value) => /^[0-9a-fA-F]{64}$/.test(value) }

/** All environment variables of the command line, in the order of help and README. */
export const VARIABLES = {
  GATEWRIGHT_LOG_FORMAT: {
    meaning: 'format of the log and the access log: text (the default) or json; --log-format takes precedence',
    commands: ['run', 'proxy', 'controller'],
    form: oneOf('text', 'json'),
  },
  GATEWRIGHT_LOG_LEVEL: {
    meaning:
      'least important messages in the log: error, warn, info (the default) or debug, also by module (info,proxy=debug); --log-level takes precedence',
    commands: ['run', 'proxy', 'controller'],
  },
  GATEWRIGHT_ACCESS_LOG: {
    meaning: 'file of the access log; the default is standard output',
    commands: ['run', 'proxy'],
  },
  GATEWRIGHT_ADMIN_ADDR: {
    meaning: `address of the admin server, a loopback address; the default is ${ADMIN_ADDRESS}, of a controller port ${CONTROLLER_PORTS.admin}. Commands that ask a running gateway ask there; --admin takes precedence`,
    commands: ['run', 'proxy', 'controller', 'tail', 'why', 'status', 'top', 'profile', 'mcp sessions'],
    form: ADDRESS,
  },
  GATEWRIGHT_STATS_ADDR: {
    meaning: `address of the metrics server; the default is port ${OWN_PORTS.metrics} of --bind, of a controller ${CONTROLLER_PORTS.metrics}`,
    commands: ['run', 'proxy', 'controller'],
    form: ADDRESS,
  },
  GATEWRIGHT_READINESS_ADDR: {
    meaning: `address of the readiness server; the default is port ${OWN_PORTS.readiness} of --bind, of a controller ${CONTROLLER_PORTS.readiness}`,
    commands: ['run', 'proxy', 'controller'],
    form: ADDRESS,
  },
  GATEWRIGHT_API_ADDR: {
    meaning: `address of the Kubernetes-style API, or off; the default is ${LOOPBACK}:${OWN_PORTS.api}`,
    commands: ['run'],
    form: ADDRESS_OR_OFF,
  },
  GATEWRIGHT_IDP_ADMIN_PASSWORD: {
    meaning:
      'password of the administrator of the identity provider; --admin-password takes precedence. idp serve creates the administrator with it at its first start',
    commands: ['idp setup', 'idp serve'],
  },
  GATEWRIGHT_BODY_MEMORY: {
    meaning: 'memory that buffered bodies may use in each worker, such as 256Mi',
    commands: ['run', 'proxy'],
    form: SIZE,
  },
  GATEWRIGHT_RECORDS: {
    meaning: 'folder for files with decision records; --records takes precedence',
    commands: ['run'],
  },
  GATEWRIGHT_RECORDS_LIMIT: {
    meaning: 'size of all those files together, 256Mi by default; --records-limit takes precedence',
    commands: ['run'],
    form: SIZE,
  },
  GATEWRIGHT_RECORD_BODIES: {
    meaning:
      'beginning of request and response bodies, prompts included, that decision records have, such as 4Ki; the default is none; --record-bodies takes precedence',
    commands: ['run'],
    form: SIZE,
  },
  GATEWRIGHT_PRICES: {
    meaning: 'file with prices of models, which take precedence over the built-in ones',
    commands: ['run', 'proxy', 'lint'],
  },
  GATEWRIGHT_TRANSPORT: {
    meaning:
      'streams: connections without TLS use only the public API of Node; auto (the default): the fastest transport that works',
    commands: ['run', 'proxy', 'version'],
    form: oneOf('auto', 'streams'),
  },
  CONNECTION_MIN_TERMINATION_DEADLINE: {
    meaning: 'minimum time of a shutdown, such as 10s; it takes precedence over shutdown.min of ProxyParameters',
    commands: ['run', 'proxy'],
    form: DURATION,
  },
  TERMINATION_GRACE_PERIOD_SECONDS: {
    meaning: 'maximum seconds of a shutdown; they take precedence over shutdown.max of ProxyParameters',
    commands: ['run', 'proxy'],
    form: SECONDS,
  },
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: {
    meaning:
      'URL of an OTLP server to which all metrics are exported, such as http://127.0.0.1:4318/v1/metrics; the default is none',
    commands: ['run', 'proxy'],
  },
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: {
    meaning: 'protocol of that server: http/protobuf (the default) or grpc',
    commands: ['run', 'proxy'],
    form: oneOf('http/protobuf', 'grpc'),
  },
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: {
    meaning: 'headers of these exports, such as authorization=Bearer%20token,tenant=a',
    commands: ['run', 'proxy'],
  },
  OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: {
    meaning: 'time limit of an export in milliseconds; the default is 10000',
    commands: ['run', 'proxy'],
    form: MILLISECONDS,
  },
  OTEL_METRIC_EXPORT_INTERVAL: {
    meaning: 'time between two exports of metrics in milliseconds, at least 1000; the default is 60000',
    commands: ['run', 'proxy'],
    form: MILLISECONDS,
  },
  GATEWRIGHT_CONTROLLER_NAME: {
    meaning:
      'controllerName of the classes that the controller serves; the default is gatewright.dev/controller. Two controllers in a cluster need two',
    commands: ['controller', 'render'],
    form: CONTROLLER,
  },
  GATEWRIGHT_CLASS_NAME: {
    meaning: 'GatewayClass that the controller serves even without its object; the default is gatewright',
    commands: ['controller', 'render'],
    form: CLASS,
  },
  GATEWRIGHT_CONTROLLER_SERVICE: {
    meaning: 'name of the Service through which proxies reach the controller; the default is gatewright-controller',
    commands: ['controller'],
  },
  GATEWRIGHT_DELIVERY_ADDR: {
    meaning: `address of the server that gives proxies their plans; the default is port ${CONTROLLER_PORTS.delivery} of --bind`,
    commands: ['controller'],
    form: ADDRESS,
  },
  GATEWRIGHT_CONTROLLER_HOSTS: {
    meaning:
      'further names and IP addresses of that server, separated by commas; its certificate gets them when the controller makes the next one',
    commands: ['controller'],
  },
  GATEWRIGHT_CONTROLLER_CERTIFICATE_LIFE: {
    meaning:
      'life of the certificate of that server and of its authority, which are renewed at two thirds of it; at least 5m, and the default is 2160h (90 days)',
    commands: ['controller'],
    form: DURATION,
  },
  GATEWRIGHT_CONTROLLER_CERTIFICATE_SECRET: {
    meaning:
      'Secret in the namespace of the controller with the certificate of that server (tls.crt, tls.key, ca.crt), which others renew, such as cert-manager; by default the controller makes its own',
    commands: ['controller'],
  },
  GATEWRIGHT_NAMESPACES: {
    meaning: 'namespaces that the controller reads, separated by commas; the default is all',
    commands: ['controller'],
  },
  GATEWRIGHT_PROXY_IMAGE_REGISTRY: {
    meaning: 'registry of the image of proxies; the default is ghcr.io, and empty is none',
    commands: ['controller'],
  },
  GATEWRIGHT_PROXY_IMAGE_REPOSITORY: {
    meaning: 'repository of the image of proxies; the default is gatewright/gatewright',
    commands: ['controller'],
  },
  GATEWRIGHT_PROXY_IMAGE_TAG: {
    meaning: 'tag of the image of proxies; the default is the version of the controller',
    commands: ['controller'],
  },
  POD_NAMESPACE: {
    meaning: 'namespace of the controller outside a cluster; the default is gatewright-system',
    commands: ['controller'],
  },
  POD_NAME: {
    meaning: 'value of env.podName in expressions; of a controller, its name in the lease of the leading replica',
    commands: ['run', 'proxy', 'controller'],
  },
  POD_IP: {
    meaning:
      'address at which other replicas of the controller reach this one; without it, the leader does not hear what proxies of other replicas report. Of a proxy in a mesh, the address of its pod',
    commands: ['controller', 'proxy'],
    form: IP,
  },
  NAMESPACE: { meaning: 'value of env.namespace in expressions', commands: ['run', 'proxy'] },
  GATEWAY: { meaning: 'value of env.gateway in expressions', commands: ['run', 'proxy'] },
  GATEWRIGHT_GATEWAY_UID: {
    meaning:
      'UID of the Gateway. With SESSION_KEY, the proxy keeps its plan in the state folder, for a start without its controller',
    commands: ['proxy'],
  },
  CA_ADDRESS: {
    meaning: `address of the CA of a service mesh, such as ${DEFAULT_CA_ADDRESS}, from which the proxy gets its certificate for NAMESPACE and SERVICE_ACCOUNT; by default it is in no mesh`,
    commands: ['proxy'],
    form: CA,
  },
  TRUST_DOMAIN: {
    meaning: 'trust domain of the proxy in the mesh; the default is cluster.local',
    commands: ['proxy'],
    form: DOMAIN,
  },
  SERVICE_ACCOUNT: { meaning: 'service account of the proxy, for its identity in the mesh', commands: ['proxy'] },
  GATEWRIGHT_KEPT_PLAN_MAX_AGE: {
    meaning:
      'a kept plan that the controller confirmed last before this time is not used, such as 24h; by default any is, and with 0s none',
    commands: ['proxy'],
    form: DURATION,
  },
  NOTIFY_SOCKET: {
    meaning: 'set by systemd, which gets a message when the gateway is ready, and when it stops',
    commands: ['run'],
  },
  SESSION_KEY: {
    meaning:
      '64 hexadecimal digits that encrypt MCP session ids, persistent sessions of routes and the kept plan of a proxy, so that they survive a restart',
    commands: ['run', 'proxy', 'explain'],
    form: KEY,
  },
  GATEWRIGHT_SESSION_KEY_PREVIOUS: {
    meaning: 'the previous session key, which still decrypts existing sessions',
    commands: ['run', 'proxy', 'explain'],
    form: KEY,
  },
} as const satisfies Readonly<Record<string, ProcessVariable>>

export type VariableName = keyof typeof VARIABLES

export function isVariableName(name: string): name is VariableName {
  return Object.hasOwn(VARIABLES, name)
}

/** Why a variable cannot have a value; undefined: it can. An empty value counts as unset. The text never contains the value, which may be a key. */
export function variableFault(name: VariableName, value: string): string | undefined {
  const { form }: ProcessVariable = VARIABLES[name]
  return value === '' || form === undefined || form.isValid(value) ? undefined : `must be ${form.text}`
}
