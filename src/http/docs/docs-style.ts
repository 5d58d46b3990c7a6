// How the page of /docs looks, in light and in dark. Inline, so that the page needs nothing else.
export const style = `
:root{color-scheme:light dark;--ink:#1c2330;--soft:#5b6577;--line:#dde2ea;--ground:#fff;--panel:#f6f8fb;--accent:#1f5fbf;--good:#12713f;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ef;--soft:#9aa5b8;--line:#2d3646;--ground:#12161d;--panel:#1a2029;--accent:#7fb0ff;--good:#6fd39b;--bad:#ff9b90}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;display:grid;grid-template-columns:19rem minmax(0,1fr);background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.25rem 1rem;border-right:1px solid var(--line);background:var(--panel);font-size:13px}
nav strong{display:block;font-size:16px;margin-bottom:.5rem}
nav h2{font-size:11px;letter-spacing:.06em;text-transform:uppercase;color:var(--soft);margin:1.2rem 0 .3rem}
nav a{display:block;padding:.15rem 0;color:inherit;text-decoration:none;overflow-wrap:anywhere}
nav a:hover{color:var(--accent)}
main{padding:1.5rem clamp(1rem,4vw,3rem) 4rem;max-width:62rem}
h1{font-size:26px;margin:0 0 .25rem}
main>h2{font-size:18px;margin:2.5rem 0 .75rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}
h3{font-size:13px;margin:1.1rem 0 .3rem;color:var(--soft)}
p{margin:.4rem 0}
code,pre,input,select,textarea{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
details{border:1px solid var(--line);border-radius:8px;margin:.5rem 0;background:var(--ground)}
details[open]{box-shadow:0 1px 6px rgb(0 0 0/8%)}
summary{display:flex;flex-wrap:wrap;gap:.2rem .75rem;align-items:baseline;padding:.55rem .9rem;cursor:pointer;list-style:none}
summary::-webkit-details-marker{display:none}
summary:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
.method{font-weight:700;font-size:12px;color:var(--good);min-width:2.6rem}
.method.post{color:var(--accent)}
.path{font-weight:600;overflow-wrap:anywhere}
.about{color:var(--soft);margin-left:auto;text-align:right}
.body{padding:.2rem .9rem 1rem;border-top:1px solid var(--line)}
table{border-collapse:collapse;width:100%;font-size:13.5px}
td,th{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line)}
td:first-child{white-space:nowrap}
.type{color:var(--soft);white-space:nowrap}
input,select,textarea{width:100%;min-width:9rem;padding:.25rem .4rem;border:1px solid var(--line);border-radius:5px;background:var(--ground);color:var(--ink)}
button{margin-top:.7rem;padding:.35rem 1rem;border:0;border-radius:6px;background:var(--accent);color:var(--ground);font:600 13px system-ui,sans-serif;cursor:pointer}
pre{max-height:26rem;overflow:auto;margin:.6rem 0 0;padding:.7rem .9rem;border-radius:6px;background:var(--panel);white-space:pre-wrap;overflow-wrap:anywhere}
output{display:block;margin-top:.6rem;font-size:13px}
output.bad{color:var(--bad)}
output.good{color:var(--good)}
.key{display:flex;gap:.75rem;align-items:center;margin:1rem 0;padding:.7rem .9rem;border-radius:8px;background:var(--panel);font-size:13.5px}
.key input{max-width:28rem}
[hidden]{display:none}
@media (max-width:760px){body{display:block}main{padding:1rem .9rem 3rem}.body table,.body tbody,.body tr,.body td{display:block;width:100%}.body td{border:0;padding:.1rem 0}.body tr{border-bottom:1px solid var(--line);padding:.35rem 0}.type{white-space:normal;overflow-wrap:anywhere}.key{flex-wrap:wrap}.key input{min-width:0}nav{display:none}.about{margin-left:0;text-align:left;width:100%}td:first-child{white-space:normal}}
`;
