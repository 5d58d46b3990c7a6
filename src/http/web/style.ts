// How the pages look: in light and in dark, on a phone, printed. Served as a file; the pages have no other style.
export const style = `
:root{color-scheme:light dark;--ink:#1b2431;--soft:#566073;--line:#dbe1ea;--ground:#fff;--panel:#f5f7fa;--accent:#1d5cb8;--good:#0f6b3c;--held:#4a9d6f;--read:#c08a1e;--open:#8592a6;--bad:#b3261e;--onbad:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e5e9f0;--soft:#a0abbd;--line:#2c3544;--ground:#11151b;--panel:#191f28;--accent:#8ab6ff;--good:#5fcf92;--held:#3f8f63;--read:#d3a03a;--open:#6d7a8f;--bad:#ff8f84;--onbad:#11151b}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI","Noto Sans","PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;overflow-wrap:anywhere}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:.5rem;background:var(--ground);padding:.4rem .8rem;z-index:2}
header{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;align-items:baseline;padding:.7rem clamp(.9rem,3vw,2rem);border-bottom:1px solid var(--line);background:var(--panel)}
header strong a{color:var(--ink);text-decoration:none;font-size:17px}
header nav{display:flex;flex-wrap:wrap;gap:.1rem 1rem;flex:1}
@media (max-width:1360px){header:has(form) nav{order:3;flex:0 0 100%}header:has(form) .tools{margin-left:auto}}
header nav a,.tools a{text-decoration:none;color:var(--soft);padding:.15rem 0;white-space:nowrap}
header nav a:hover,.tools a:hover{color:var(--accent)}
header nav a[aria-current]{color:var(--ink);font-weight:600;border-bottom:2px solid var(--accent)}
.tools form{display:flex;gap:.4rem;align-items:center}
.tools{display:flex;flex-wrap:wrap;gap:.1rem 1rem;align-items:baseline}
main{overflow-x:clip;max-width:76rem;margin:0 auto;padding:1.2rem clamp(.9rem,3vw,2rem) 3rem}
footer nav{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem}
footer{max-width:76rem;margin:0 auto;padding:0 clamp(.9rem,3vw,2rem) 2rem;color:var(--soft);font-size:13px;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem}
h1{font-size:clamp(22px,3.4vw,30px);line-height:1.25;margin:.4rem 0 .3rem}
h2{font-size:18px;margin:2rem 0 .6rem}
h3{font-size:15px;margin:1.2rem 0 .3rem}
p{margin:.4rem 0;max-width:62rem}
.lead{font-size:17px;color:var(--soft)}
.lead strong:not(.good,.bad){color:var(--ink)}
.good{color:var(--good)}.bad{color:var(--bad)}.soft{color:var(--soft)}
.notice{border-left:4px solid var(--bad);background:var(--panel);padding:.6rem .9rem;margin:.8rem 0}
.notice.mild{border-color:var(--read)}
code,pre,.id,.value{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.7rem .9rem;overflow:auto;white-space:pre-wrap}
.scroll{position:relative;overflow-x:auto}
.narrow table{width:auto;min-width:min(100%,34rem)}
table{border-collapse:collapse;width:100%;font-size:14px}
caption,.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
th,td{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--soft);font-size:13px}
thead th::first-letter{text-transform:uppercase}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.t,th.t{white-space:nowrap;font-variant-numeric:tabular-nums}
dl.facts{display:grid;grid-template-columns:minmax(9rem,15rem) 1fr;gap:.25rem 1.2rem;margin:.6rem 0}
dl.facts dt{color:var(--soft)}dl.facts dd{margin:0}
.tiles{display:flex;flex-wrap:wrap;gap:.8rem;margin:.8rem 0}
.tile{max-width:26rem;background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.7rem 1rem;min-width:9rem;flex:1 1 auto}
.tile b{display:block;white-space:nowrap;font-size:24px;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:13px}
form.filter{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:end;background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem;margin:.8rem 0}
form.filter label{display:block;font-size:13px;color:var(--soft)}
form.filter fieldset{border:0;margin:0;padding:0;min-width:0}
form.filter legend{font-size:13px;color:var(--soft);padding:0}
form.filter fieldset label{display:inline-flex;gap:.3rem;align-items:center;vertical-align:bottom;min-height:2.2rem;margin-right:.9rem;font-size:14px;color:var(--ink)}
form.filter fieldset input{min-height:0}
#fold,form.filter [for=fold]{display:none}
form.filter .wide{flex:0 1 24rem}form.filter .wide input{width:100%}
input,select,textarea,button,.button{font:inherit;font-size:14px;padding:.35rem .6rem;border:1px solid var(--line);border-radius:6px;background:var(--ground);color:var(--ink);max-width:100%}
input{min-width:0}
input,select,button{min-height:2.2rem}
button,.button{background:var(--accent);border-color:var(--accent);color:var(--ground);font-weight:600;cursor:pointer;text-decoration:none;display:inline-block}
.pages [aria-current]{color:var(--ink);font-weight:600;text-decoration:none}
.pages{display:flex;flex-wrap:wrap;gap:.6rem 1.2rem;margin:1rem 0;align-items:baseline}
.month{display:grid;grid-template-columns:9.5rem 1fr;gap:.2rem .8rem;align-items:center;margin:.5rem 0}
.month h3{margin:0;grid-row:span 2;align-self:start;font-size:14px}
.month.one h3{grid-row:auto}
.month h3 a{color:inherit}
.ruler{position:sticky;top:0;z-index:1;background:var(--ground);color:var(--soft);font-size:11px;margin:0}
.ruler .days{line-height:1.5}.ruler li{overflow:visible;white-space:nowrap;font-variant-numeric:tabular-nums}
.list{display:flex;gap:.5rem;align-items:center;min-width:0}
.list>span{flex:0 0 5.6rem;font-size:12px;color:var(--soft)}
.days{display:grid;grid-template-columns:repeat(31,minmax(0,1fr));gap:2px;flex:1;max-width:46rem;list-style:none;margin:0;padding:0}
.days li{display:block}
.cell{display:block;aspect-ratio:1;min-height:9px;border-radius:3px;border:1px solid transparent}
a.cell:hover{outline:2px solid var(--accent);outline-offset:1px}
.cell.none{background:transparent}
.cell.open{border:1px dashed var(--open);background:transparent}
.cell.unproved{background:repeating-linear-gradient(45deg,var(--read) 0 2px,transparent 2px 5px);border-color:var(--read)}
.cell.doubtful{background:repeating-linear-gradient(-45deg,var(--bad) 0 2px,transparent 2px 5px);border-color:var(--bad)}
.cell.proved{background:linear-gradient(135deg,var(--held) 50%,transparent 50%);border-color:var(--held)}
.cell.sealed{background:var(--held);border-color:var(--held)}
.cell.final{background:radial-gradient(circle,var(--ground) 0 22%,var(--good) 24%);border-color:var(--good)}
.cell.lost{background:linear-gradient(45deg,transparent 44%,var(--onbad) 44% 56%,transparent 56%),linear-gradient(-45deg,transparent 44%,var(--onbad) 44% 56%,transparent 56%),var(--bad);border-color:var(--bad)}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;padding:0;margin:.8rem 0;font-size:13px;color:var(--soft)}
.legend li{display:flex;gap:.4rem;align-items:center}
.legend .cell{width:14px;height:14px;flex:none}
.chart{margin:.6rem 0}
.chart .legend{margin:.2rem 0 .6rem}
.key{width:12px;height:12px;background:currentColor}
.key,.column{print-color-adjust:exact}
.plot{position:relative;display:flex;height:17rem;margin-left:3.2rem;padding-bottom:1.5rem}
.small .plot{height:11rem}
.plot svg{display:block;width:100%;height:100%;overflow:visible}
svg.scale{position:absolute;inset:0;height:calc(100% - 1.5rem)}
.scale line{stroke:var(--line)}
.scale text{fill:var(--soft);font-size:12px;text-anchor:end;dominant-baseline:middle}
.column{position:relative;flex:1;min-width:0}
.column>span{position:absolute;top:100%;left:50%;transform:translate(-50%);font-size:12px;line-height:1.5rem;color:var(--soft);white-space:nowrap}
.column.doubt{background:repeating-linear-gradient(-45deg,color-mix(in srgb,var(--read) 60%,transparent) 0 1px,transparent 1px 6px)}
.column.lost{background:repeating-linear-gradient(-45deg,var(--bad) 0 1px,transparent 1px 6px)}
.column rect{fill:currentColor}.doubt rect{fill-opacity:.5}
.chart .held{color:var(--held)}.chart .open{color:var(--open)}.chart .read{color:var(--read)}.chart .accent{color:var(--accent)}
.stripes{display:inline-block;width:1.6rem;height:.8rem;border:1px solid var(--read);background:repeating-linear-gradient(-45deg,var(--read) 0 1px,transparent 1px 5px)}
tr.doubt>*{background:repeating-linear-gradient(-45deg,color-mix(in srgb,var(--read) 18%,transparent) 0 1px,transparent 1px 6px)}
.stripes.lost{border-color:var(--bad);background:repeating-linear-gradient(-45deg,var(--bad) 0 1px,transparent 1px 5px)}
tr.lost>*{background:repeating-linear-gradient(-45deg,color-mix(in srgb,var(--bad) 30%,transparent) 0 1px,transparent 1px 6px)}
td.wide{min-width:16rem}
.digest code{display:block;overflow-wrap:anywhere}
tr.sum>*{font-weight:600}
.bar{height:.6rem;border-radius:4px;background:var(--line);overflow:hidden;margin:.4rem 0;max-width:40rem;width:100%;border:0}
progress.bar::-webkit-progress-bar{background:var(--line)}
progress.bar::-webkit-progress-value{background:var(--accent)}
progress.bar::-moz-progress-bar{background:var(--accent)}
ins,del{text-decoration:none;padding:0 .2rem;border-radius:3px}
ins{background:color-mix(in srgb,var(--good) 22%,transparent)}
del{background:color-mix(in srgb,var(--bad) 20%,transparent)}
details summary{cursor:pointer;color:var(--accent)}
bdi{unicode-bidi:isolate}
.long{display:inline-block;max-width:16rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;vertical-align:bottom}
@media (min-width:721px){.stacks td .long{max-width:9rem}.stacks th .long{max-width:12rem}}
.mark{display:inline-block;font-size:12px;font-weight:400;border:1px solid currentColor;border-radius:4px;padding:0 .35rem;white-space:nowrap}
th a.long+.mark{margin-left:.4rem}
th[scope=row]{font-weight:400;font-size:14px;color:var(--ink)}
dl.fields{gap:.55rem 1.2rem;grid-template-columns:minmax(7rem,10rem) 1fr}dl.fields dd{min-width:0}dl.fields pre{margin:.2rem 0}
.two{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:0 2.4rem}
dl.fields small{display:block;color:var(--soft);font-size:12.5px}
ol.versions{padding-left:1.6rem}ol.versions>li{padding:.2rem 0 .7rem;border-bottom:1px solid var(--line);margin-bottom:.4rem}
.scroll td,.scroll th{overflow-wrap:break-word}thead th{white-space:nowrap}
ol.versions td,ol.versions th{min-width:7rem}
.tall{max-height:12rem;overflow:auto}
.whole{white-space:nowrap}
.value{overflow-wrap:anywhere;display:inline-block;max-height:12rem;overflow:auto;white-space:pre-wrap}
@media (max-width:720px){
.stacks table,.stacks tbody,.stacks tr,.stacks td,.stacks th[scope=row]{display:block}
.stacks thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.stacks tr{padding:.5rem 0;border-bottom:1px solid var(--line)}
.stacks td,.stacks th[scope=row]{border:0;padding:.1rem 0;text-align:left;white-space:normal;min-width:0}
.stacks th[scope=row]{font-weight:600}
.stacks td[data-head]::before{content:attr(data-head);margin-right:.5rem;color:var(--soft);font-size:13px}
/* Numbers and times follow each other. */
.stacks td.n,.stacks td.t{display:inline-block;margin-right:1.1rem}
.stacks td[data-head]:empty{display:none}
.stacks .long{max-width:min(100%,14.5rem)}
.stacks th .long{max-width:100%}
.month{grid-template-columns:1fr}.month h3{grid-row:auto}
.days{grid-template-columns:repeat(16,minmax(0,1fr))}
.list{display:block}
header nav{order:3;flex:0 0 100%}.tools{margin-left:auto}
dl.facts,dl.fields{grid-template-columns:1fr}dl.facts dd{margin-bottom:.4rem}
dl.fields{gap:0}dl.fields dd{margin-bottom:.7rem}
.two{grid-template-columns:minmax(0,1fr)}
form.filter{display:grid;grid-template-columns:repeat(2,minmax(0,1fr))}form.filter>div>*{width:100%}
#fold{display:block;position:absolute;opacity:0;min-height:0}form.filter [for=fold]{display:block;grid-column:1/-1;color:var(--accent);font-size:14px;cursor:pointer}
[for=fold]::before{content:'▸ '}#fold:checked+label::before{content:'▾ '}#fold:focus-visible+label{outline:2px solid var(--accent)}
#fold:not(:checked)+label~*{display:none}
form.filter .wide,form.filter fieldset{grid-column:1/-1}form.filter button{justify-self:start}
.plot{height:13rem}.column>.wide{display:none}
}
/* The page of /docs. */
.docs{display:grid;grid-template-columns:19rem minmax(0,1fr)}
.docs>nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.25rem 1rem;border-right:1px solid var(--line);background:var(--panel);font-size:13px}
.docs>nav h2{font-size:11px;letter-spacing:.06em;text-transform:uppercase;color:var(--soft);margin:1.2rem 0 .3rem}
.docs>nav a{display:block;padding:.15rem 0;color:inherit;text-decoration:none}
.docs>nav a:hover{color:var(--accent)}
.docs main{margin:0;width:100%;max-width:66rem}
.docs details{border:1px solid var(--line);border-radius:8px;margin:.5rem 0}
.docs summary{display:flex;flex-wrap:wrap;gap:.2rem .75rem;align-items:baseline;padding:.55rem .9rem;color:inherit;list-style:none}
.docs summary::-webkit-details-marker{display:none}
.docs summary code{font-weight:600}
.docs summary .soft{margin-left:auto;text-align:right}
.method{font-weight:700;font-size:12px;color:var(--good);min-width:2.6rem}.method.post{color:var(--accent)}
.docs .body{padding:.2rem .9rem 1rem;border-top:1px solid var(--line)}
.docs td:first-child{white-space:nowrap}
.docs td :is(input,select),.docs textarea{width:100%;min-width:9rem}
.docs pre{max-height:26rem}
.docs .body button,.docs output{display:block;margin-top:.6rem}
@media (max-width:760px){.docs{display:block}.docs>nav{display:none}.docs :is(table,tbody,tr,td){display:block}.docs td{border:0;padding:.1rem 0}.docs tr{border-bottom:1px solid var(--line);padding:.35rem 0}.docs td:first-child{white-space:normal}.docs summary .soft{margin-left:0;text-align:left;width:100%}}
@media print{header nav,.tools,form,footer{display:none}}
@media (prefers-reduced-motion:no-preference){.cell{transition:background .3s}}
`;
