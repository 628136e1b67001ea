/** The style of every page. Colors have a contrast of at least 4.5:1 in both schemes; no meaning is in a color alone. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d0d4da, #3a4048); --quiet: light-dark(#57606a, #a5adb7);
  --error: light-dark(#b42318, #ff8a80); --warning: light-dark(#8a4b00, #ffc266); --good: light-dark(#0b6b3a, #6fd69a);
  --wait: light-dark(#8fb4e8, #3f6fb0); --work: light-dark(#2458a6, #8fb8f0); }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 80rem; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); }
th { white-space: nowrap; font-weight: 600; color: var(--quiet); font-size: .85rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
code { overflow-wrap: anywhere; }
.wide { display: inline-block; min-width: 14rem; }
pre { margin: 0; overflow-x: auto; }
section { overflow-x: auto; }
p, ul { margin: .25rem 0; }
td ul { padding-left: 1rem; }
.quiet { color: var(--quiet); }
.error { color: var(--error); font-weight: 600; }
.warning { color: var(--warning); font-weight: 600; }
.good { color: var(--good); }
svg { display: block; width: 100%; min-width: 10rem; max-width: 20rem; height: .6rem; }
time, a code { white-space: nowrap; }
.wait { fill: var(--wait); }
.work { fill: var(--work); }
@media (max-width: 45rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, td { display: block; }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  td { border: 0; padding: .1rem 0; }
  td:empty { display: none; }
  td::before { content: attr(data-column) ": "; color: var(--quiet); font-size: .85rem; }
}
`
