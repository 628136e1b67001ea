import type { Panel, PanelRow } from './panels.ts'

const COLUMNS = 3
const WIDTH = 24 / COLUMNS
const HEIGHT = 8

/** A dashboard of Grafana (version 10 and later) that reads from a Prometheus that the reader chooses. */
export function dashboard(rows: readonly PanelRow[]): object {
  const panels: object[] = []
  let y = 0
  let id = 1
  for (const { title, panels: ofRow } of rows) {
    panels.push({ id: id++, type: 'row', title, collapsed: false, gridPos: { x: 0, y: y++, w: 24, h: 1 }, panels: [] })
    for (const [at, panel] of ofRow.entries()) {
      const place = { x: (at % COLUMNS) * WIDTH, y: y + Math.floor(at / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT }
      panels.push(timeSeries(id++, panel, place))
    }
    y += Math.ceil(ofRow.length / COLUMNS) * HEIGHT
  }
  return {
    title: 'Gatewright',
    uid: 'gatewright',
    tags: ['gatewright'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        variable('route', 'Route'),
        variable('backend', 'Backend'),
      ],
    },
    panels,
  }
}

/** Grafana fills in the one that the reader chooses. */
const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

/** Values of a label of requests, all of them by default. */
function variable(name: string, label: string): object {
  return {
    name,
    label,
    type: 'query',
    datasource: DATASOURCE,
    query: { query: `label_values(gatewright_requests_total, ${name})`, refId: name },
    refresh: 2,
    sort: 1,
    includeAll: true,
    allValue: '.*',
    multi: true,
    current: { text: 'All', value: '$__all' },
  }
}

function timeSeries(id: number, { title, about, unit, queries }: Panel, gridPos: object): object {
  return {
    id,
    type: 'timeseries',
    title,
    description: about,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(({ expr, legend, exemplar }, at) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + at),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
      ...(exemplar && { exemplar }),
    })),
  }
}
