"""How the page looks: the reader's own fonts, light or dark, wide or on a phone."""

STYLE = """
:root{color-scheme:light dark;--ground:#fcfcfa;--ink:#1d1f24;--soft:#5c6270;--line:#e2e2dc;
--card:#fff;--blue:#0072b2;--orange:#d55e00;--good:#00704f;--heat:0,114,178}
@media(prefers-color-scheme:dark){:root{--ground:#14161a;--ink:#e9e9ec;--soft:#a0a6b4;
--line:#2d3138;--card:#1b1e24;--blue:#56b4e9;--orange:#f0994f;--good:#3fc79a;--heat:86,180,233}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);line-height:1.6;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","PingFang SC",
"Microsoft YaHei","Noto Sans CJK SC",sans-serif}
main,header{max-width:54rem;margin:0 auto;padding:0 1.2rem}
header{padding-top:2.6rem}
h1{font-size:2rem;line-height:1.2;margin:.2rem 0 .6rem;letter-spacing:-.01em}
h2{font-size:1.25rem;margin:2.6rem 0 .5rem}
h3{font-size:1rem;margin:1.4rem 0 .3rem}
p{margin:.5rem 0;max-width:44rem}
.lead,.note,figcaption{color:var(--soft)}
.note,figcaption{font-size:.9rem;overflow-wrap:anywhere}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.88rem}
pre{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem;
overflow-x:auto;margin:.3rem 0 1rem}
.tongue{position:absolute;opacity:0;pointer-events:none}
.switch{float:right;display:flex;border:1px solid var(--line);border-radius:99px;overflow:hidden}
.switch label{padding:.15rem .8rem;cursor:pointer;font-size:.9rem;color:var(--soft)}
#en:checked~header .switch [for=en],#zh:checked~header .switch [for=zh]{background:var(--blue);
color:var(--ground)}
#en:focus-visible~header .switch,#zh:focus-visible~header .switch{outline:2px solid var(--blue);
outline-offset:2px}
#en:checked~* [lang=zh-Hans].said,#zh:checked~* [lang=en].said{display:none}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.7rem;
margin:1rem 0}
.facts div{background:var(--card);border:1px solid var(--line);border-radius:10px;
padding:.6rem .9rem}
.facts b{display:block;font-size:1.45rem;font-variant-numeric:tabular-nums;line-height:1.3}
.facts span{color:var(--soft);font-size:.85rem}
.scroll{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse}
table.plain{width:100%}
table.plain th,table.plain td{text-align:left;padding:.4rem .8rem .4rem 0;vertical-align:top;
border-bottom:1px solid var(--line)}
table.plain th{font-weight:600;font-size:.85rem;color:var(--soft)}
table.plain td.n,table.plain th.n{text-align:right;font-variant-numeric:tabular-nums}
.pair{border-bottom:1px solid var(--line);padding:.7rem 0;display:grid;
grid-template-columns:1.6rem 1fr;column-gap:.4rem}
.pair>i{grid-row:span 3;font-style:normal;font-weight:700;font-size:1.1rem}
.pair .right{color:var(--good)}.pair .wrong{color:var(--orange)}
.pair p{margin:0}.pair .source{color:var(--soft)}
.pair small{color:var(--soft);display:inline-block;min-width:3.6rem}
.heat caption{caption-side:bottom;text-align:left;color:var(--soft);font-size:.9rem;
padding-top:.5rem}
.heat th{font-weight:400;font-size:.92rem;white-space:nowrap}
.heat th[scope=row]{text-align:right;padding-right:.5rem}
.heat th[scope=col]{vertical-align:bottom;padding:0 0 .35rem}
.heat th[scope=col] span{writing-mode:vertical-rl;text-orientation:mixed}
.heat th[scope=col] .lying{display:inline-block;transform:rotate(180deg)}
.heat tbody td{width:1.9rem;min-width:1.9rem;height:1.9rem;padding:0;text-align:center;
border:1px solid var(--ground);background:rgba(var(--heat),var(--w));border-radius:4px}
.heat tbody td b{font-weight:400;font-size:.68rem;font-variant-numeric:tabular-nums;opacity:.85}
.heat tbody td.deep{color:var(--ground)}
.heat tbody td.true{box-shadow:inset 0 0 0 2px var(--orange)}
.chart{width:100%;height:auto;max-width:44rem}
.grid{stroke:var(--line)}.tick{fill:var(--soft);font-size:12px}
.curve{fill:none;stroke-width:2;stroke-linejoin:round}
.curve.training{stroke:var(--blue);opacity:.75}.curve.validation{stroke:var(--orange)}
.dot.validation{fill:var(--orange)}.dot.training{fill:var(--blue)}
.key{display:inline-block;width:1.1em;height:.25em;vertical-align:middle;border-radius:2px;
margin-right:.35em}
.key.training{background:var(--blue)}.key.validation{background:var(--orange)}
.key.true{height:.9em;background:none;border:2px solid var(--orange)}
.panels{display:flex;flex-wrap:wrap;gap:1rem}
.panels figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:10px;
padding:.8rem 1rem;flex:1 1 17rem;min-width:0}
.lines{max-width:100%;height:auto;display:block;margin:.3rem auto}
.lines text{font-size:14px}.lines .loud{fill:var(--ink);font-weight:600}
.lines .quiet{fill:var(--soft)}.lines .look{stroke:var(--blue);stroke-linecap:round}
.lines .look:hover{stroke:var(--orange)}
.lines .true{fill:none;stroke:var(--orange);stroke-width:1.6}
footer{max-width:54rem;margin:3rem auto 2rem;padding:0 1.2rem;color:var(--soft);font-size:.85rem}
@media(max-width:34rem){table.plain{font-size:.88rem}
table.plain th,table.plain td{padding-right:.5rem}
h1{font-size:1.6rem}.heat tbody td{width:1.6rem;min-width:1.6rem;
height:1.6rem}.heat tbody td b{font-size:.6rem}}
@media print{.switch{display:none}}
"""
