/** `default/tools` for `ProxyBackend/default/tools`, `default/web` for `Service/default/web/80`: the name of a backend in records, metrics and expressions. */
export function backendName(key: string): string {
  const [, namespace, name] = key.split('/')
  return `${namespace}/${name}`
}
