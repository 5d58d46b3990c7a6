// What was observed of the platform: each question once, with what each list answered; what it means where that is
// known.
import { listedResources } from '../../../model.ts';
import { Foreign } from '../layout.tsx';
import { Table } from '../table.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';

export const factsPage: Page = { path: '/facts', nav: 'facts', read };

/** By name, for example `limit`: what was observed of each list; '' is what concerns neither. */
type Observed = Map<string, Map<string, string>>;
type Fact = [name: string, values: Map<string, string>];

async function read(view: View): Promise<Made> {
  const { words, archive, project, classesOf } = view;
  const facts = Object.entries(await archive.facts({ project }));
  // Classes may be another project's.
  if (classesOf(project) !== project) {
    const theirs = Object.entries(await archive.facts({ project: classesOf(project) }));
    facts.push(...theirs.filter(([fact]) => fact.startsWith('nft_classes.')));
  }
  const observed: Observed = new Map();
  for (const [fact, value] of facts) {
    const [first = '', name = first] = fact.split('.');
    const isOfList = listedResources.some((one) => one === first);
    const row = isOfList ? name : fact;
    observed.set(row, (observed.get(row) ?? new Map()).set(isOfList ? first : '', value));
  }
  return {
    title: words.facts.title,
    twin: linkTo(view, '/archive/v1/facts'),
    isLive: true,
    body: (
      <>
        <h1>{words.facts.title}</h1>
        <p>{words.facts.about}</p>
        {facts.length === 0 ? (
          <p class="lead">{words.facts.none}</p>
        ) : (
          <Facts view={view} observed={observed} />
        )}
      </>
    ),
  };
}

function Facts({ view, observed }: { view: View; observed: Observed }) {
  const { words } = view;
  return (
    <Table
      caption={words.facts.title}
      columns={[
        {
          head: words.facts.fact,
          class: 'wide',
          isName: true,
          cell: ([name]) => (
            <>
              {words.facts.names[name]}
              {name in words.facts.names && <br />}
              <code>{name}</code>
            </>
          ),
        },
        ...listedResources.map((resource) => ({
          head: words.resources[resource],
          cell: ([name, values]: Fact) => {
            const value = values.get('') ?? values.get(resource);
            return value === undefined ? null : <Value view={view} name={name} value={value} />;
          },
          spansRest: ([, values]: Fact) => values.has(''),
        })),
      ]}
      rows={[...observed].toSorted(([a], [b]) => (a < b ? -1 : 1))}
    />
  );
}

/** In words where there are any, and as it stands in the books. */
function Value({ view, name, value }: { view: View; name: string; value: string }) {
  const meaning = view.words.facts.values[`${name} ${value}`];
  if (meaning === undefined) return <Foreign text={value} />;
  return (
    <>
      {meaning}{' '}
      <span class="soft">
        (<bdi>{value}</bdi>)
      </span>
    </>
  );
}
