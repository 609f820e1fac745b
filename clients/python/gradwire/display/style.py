"""The style of cards: colours are the page's own, light or dark."""

from __future__ import annotations

from gradwire.display.markup import Markup

_RULES = """
.gw{font:13px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
 color:inherit;max-width:100%;overflow-x:auto;padding:2px 1px 6px}
.gw-head{display:flex;flex-wrap:wrap;gap:2px 14px;align-items:baseline;margin:0 0 6px}
.gw-title{font-size:15px;font-weight:600}
.gw-quiet,.gw th,.gw-foot{color:inherit;opacity:.66}
.gw-foot{font-size:12px;margin-top:6px;display:flex;flex-wrap:wrap;gap:2px 14px}
.gw-good{color:#0f9d58;font-weight:600;white-space:nowrap}
.gw-bad{color:#e0484d;font-weight:600}
.gw table{border-collapse:collapse!important;border:0!important;margin:0!important;
 font-size:13px!important;width:auto!important;table-layout:auto!important;color:inherit}
.gw tr{background:none!important}
.gw td,.gw th{text-align:left!important;vertical-align:middle!important;border:0!important;
 padding:3px 18px 3px 0!important;max-width:none!important;color:inherit;line-height:1.4}
.gw th{font-weight:500!important;font-size:12px;padding-bottom:2px!important}
.gw thead,.gw tbody,.gw tr{border:0!important}
.gw tbody tr.gw-top td{border-top:1px solid rgba(128,128,128,.22)!important}
.gw tbody tr.gw-level td{padding-top:1px!important;padding-bottom:0!important}
.gw td.gw-no,.gw td.gw-no>*{white-space:nowrap}
.gw-name,.gw-no,.gw-type,.gw pre{
 font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
 font-size:12px;font-variant-numeric:tabular-nums}
.gw-name{font-weight:600;white-space:nowrap}
.gw-type{opacity:.66;white-space:nowrap}
.gw-more{font-size:11.5px;opacity:.66;white-space:nowrap}
.gw-map{display:block;image-rendering:pixelated;max-width:none!important;margin:0!important;
 background:none!important;border-radius:2px;box-shadow:0 0 0 1px rgba(128,128,128,.35)}
.gw table.gw-grid td,.gw table.gw-grid th{padding:1px 7px!important;text-align:right!important;
 border:0!important;white-space:nowrap;line-height:1.5;
 font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
 font-size:12px!important;font-variant-numeric:tabular-nums}
.gw table.gw-grid{box-shadow:0 0 0 1px rgba(128,128,128,.28);border-radius:2px;display:inline-table}
.gw table.gw-grid th{font-weight:500!important}
.gw table.gw-grid td.gw-edge{border-left:1px solid rgba(128,128,128,.45)!important}
.gw table.gw-grid tr.gw-edge td,.gw table.gw-grid tr.gw-edge th{
 border-top:1px solid rgba(128,128,128,.45)!important}
.gw table.gw-blocks td,.gw table.gw-blocks th{border:0!important;padding:2px 4px 2px 0!important;
 text-align:center!important}
.gw table.gw-blocks th{text-align:right!important;padding-right:8px!important}
.gw table.gw-blocks thead th{text-align:center!important;padding-right:0!important}
.gw details{margin:0}
.gw summary{cursor:pointer;display:flex;gap:8px;align-items:center;list-style:none}
.gw summary::-webkit-details-marker{display:none}
.gw summary::before{content:"▸";opacity:.5;font-size:10px}
.gw details[open]>summary::before{content:"▾"}
.gw details>div,.gw details>table,.gw details>img{margin:5px 0 5px 16px!important}
.gw tr:has(details[open])>td{vertical-align:top!important}
.gw-bar{display:inline-block;height:8px;border-radius:1px;background:currentColor;opacity:.45;
 margin-right:7px}
.gw-ramp{display:inline-block;width:110px;height:9px;border-radius:2px;
 box-shadow:0 0 0 1px rgba(128,128,128,.35)}
.gw-legend{display:flex;gap:7px;align-items:center;font-size:11.5px;margin:4px 0 0}
.gw-legend span:not(.gw-ramp){opacity:.66}
.gw-head details,.gw-head .gw-inline{display:flex;gap:8px;align-items:center}
.gw-odd{background:rgba(192,38,211,.45);border-radius:2px;padding:0 4px}
.gw-warn{border-left:3px solid #d98a00;padding:1px 0 1px 9px;margin:6px 0}
.gw pre{margin:2px 0!important;padding:0!important;background:none!important;border:0!important;
 color:inherit!important;line-height:1.4;white-space:pre;overflow-x:auto}
.gw-section{font-weight:600;margin:12px 0 4px}
.gw-section .gw-more{font-weight:400;margin-left:2px}
"""

STYLE = Markup(f"<style>{_RULES.strip().replace(chr(10), '')}</style>")
