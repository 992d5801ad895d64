"""How the page around a scene looks: quiet, light or dark, on a phone too."""

STYLE = """
:root{color-scheme:light;--ground:#fff;--panel:#f5f6f8;--ink:#1d1f24;--soft:#5c6270;
--line:#d9dce2;--look:#0072b2;--on:#fff}
:root[data-theme=dark]{color-scheme:dark;--ground:#14161a;--panel:#1e2127;--ink:#ececef;
--soft:#a4abb9;--line:#353a44;--look:#56b4e9;--on:#0d1520}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);line-height:1.45;font-size:15px;
font-family:"Noto Sans",system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",
"Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif}
header{padding:14px 20px 10px;border-bottom:1px solid var(--line);display:flex;gap:6px 18px;
flex-wrap:wrap;align-items:baseline}
header p{margin:0;flex:1 1 24rem;max-width:70rem;overflow-wrap:anywhere}
header .arrow{color:var(--soft);padding:0 .5em}
header small{color:var(--soft);flex-basis:100%}
#controls{display:flex;flex-wrap:wrap;gap:10px 22px;padding:12px 20px;background:var(--panel);
border-bottom:1px solid var(--line);align-items:center}
fieldset{border:0;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:4px;align-items:center;
min-width:0}
fieldset[hidden]{display:none}
legend{float:left;padding:0 6px 0 0;color:var(--soft);font-size:13px}
button{font:inherit;font-size:13px;color:var(--ink);background:var(--ground);
border:1px solid var(--line);border-radius:6px;padding:3px 10px;cursor:pointer}
button:hover{border-color:var(--look)}
button:focus-visible{outline:2px solid var(--look);outline-offset:1px}
button[aria-pressed=true]{background:var(--look);border-color:var(--look);color:var(--on)}
button .chip{display:inline-block;width:.7em;height:.7em;border-radius:2px;margin-right:.4em}
button.head[aria-pressed=true]{background:var(--ground);border-color:var(--ink);
color:var(--ink)}
button.head[aria-pressed=false]{opacity:.45}
#picture{overflow:auto;padding:4px 0 24px}
#picture svg{display:block;height:auto}
#picture text{cursor:default}
#picture .quiet{opacity:.07}
#picture text.quiet{opacity:.4}
#tip{position:fixed;pointer-events:none;background:var(--ink);color:var(--ground);
font-size:13px;padding:3px 8px;border-radius:5px;max-width:24rem;z-index:2;white-space:pre-wrap}
#tip[hidden]{display:none}
@media print{#controls,#tip{display:none}}
"""
