// The settings in force, for whoever may read every project here. Of a secret only whether it is set (P10).
import type { SettingInForce } from '../../../model.ts';
import { Foreign, Said } from '../layout.tsx';
import { Table } from '../parts.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';

export const settingsPage: Page = { path: '/settings', nav: 'settings', read };

async function read(view: View): Promise<Made> {
  const { words, settings } = view;
  return {
    title: words.settings.title,
    status: settings === null ? 403 : 200,
    twin: linkTo({ ...view, projects: [] }, '/archive/v1/settings'),
    body: (
      <>
        <h1>{words.settings.title}</h1>
        {settings === null ? (
          <p class="notice">{words.settings.none}</p>
        ) : (
          <>
            <p>{words.settings.about}</p>
            {settings.length === 0 ? (
              <p class="lead">{words.settings.empty}</p>
            ) : (
              <Settings view={view} settings={settings} />
            )}
          </>
        )}
      </>
    ),
  };
}

function Settings({ view, settings }: { view: View; settings: readonly SettingInForce[] }) {
  const { words } = view;
  return (
    <Table
      caption={words.settings.title}
      columns={[
        { head: words.settings.name, isName: true, cell: ({ name }) => <code>{name}</code> },
        { head: words.settings.value, cell: (setting) => <Value view={view} of={setting} /> },
        {
          head: words.settings.source,
          class: 't',
          cell: ({ from }) => (
            <span class={from === 'default' ? 'soft' : undefined}>
              {words.settings.sources[from]}
            </span>
          ),
        },
        {
          head: words.settings.meaning,
          class: 'wide',
          cell: ({ name, meaning }) => words.meanings[name] ?? <Said text={meaning} lang="en" />,
        },
      ]}
      rows={settings}
    />
  );
}

function Value({ view: { words }, of: { value, isSecret } }: { view: View; of: SettingInForce }) {
  if (value === null) return <span class="soft">{words.none}</span>;
  return isSecret ? <>{words.settings.secrets[value]}</> : <Foreign text={value} />;
}
