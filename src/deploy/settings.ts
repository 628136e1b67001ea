/** What a controller decides for all proxies that it deploys. */
export interface DeploySettings {
  /** Image where ProxyParameters do not set its parts. */
  readonly image: { readonly registry: string; readonly repository: string; readonly tag: string }
  /** URL that proxies get their configuration from. */
  readonly controllerUrl: string
  /** Certificates of the authority of the controller, PEM; undefined: not known yet. */
  readonly authority: string | undefined
  /** Audience of the tokens that proxies authenticate with. */
  readonly audience: string
  /** Version of the controller, for labels. */
  readonly version: string
}

/** The settings of a controller that is installed with the defaults. */
export function defaultSettings(version: string): DeploySettings {
  return {
    image: { registry: 'ghcr.io', repository: 'gatewright/gatewright', tag: version },
    controllerUrl: 'https://gatewright-controller.gatewright-system.svc:9978',
    authority: undefined,
    audience: 'gatewright-controller',
    version,
  }
}
