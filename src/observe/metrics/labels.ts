import type { Exchange, PlaceNames } from '#exchange/exchange.ts'
import type { ObserveSettings } from '../observer.ts'

const NONE: readonly string[] = []

export function customNames(settings: ObserveSettings | undefined): readonly string[] {
  return settings === undefined || settings.metricLabels.length === 0
    ? NONE
    : settings.metricLabels.map(({ name }) => name)
}

/** A failing expression gives `unknown` (specification 2, 2.1). */
export function customValues(exchange: Exchange, settings: ObserveSettings | undefined): readonly string[] {
  if (settings === undefined || settings.metricLabels.length === 0) return NONE
  return settings.metricLabels.map(({ expression }) => expression.text(exchange) ?? 'unknown')
}

export function routeLabels(place: PlaceNames): string[] {
  return [place.gateway, place.listener, place.route, place.rule].map(unknownIfEmpty)
}

export function unknownIfEmpty(value: string): string {
  return value === '' ? 'unknown' : value
}
