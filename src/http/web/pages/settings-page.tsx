// The settings in force, for whoever may read every project here. Of a secret only whether it is set (P10).
import type { SettingInForce } from '../../../model.ts';
import { Foreign, Said, Table } from '../parts.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';

export const settingsPage: Page = { path: '/settings', nav: 'settings', read };

async function read(view: View): Promise<Made> {
  const { t, settings } = view;
  return {
    title: t('Settings in force'),
    status: settings === null ? 403 : 200,
    twin: linkTo({ ...view, projects: [] }, '/archive/v1/settings'),
    body: (
      <>
        <h1>{t('Settings in force')}</h1>
        {settings === null ? (
          <p class="notice">{t('Not shown here: they are for whoever may read every project.')}</p>
        ) : (
          <>
            <p>{t('Secrets are never shown: only whether they are set.')}</p>
            {settings.length === 0 ? (
              <p class="lead">{t('None were given: a demo goes by its own.')}</p>
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
  const { t, words } = view;
  return (
    <Table
      caption={t('Settings in force')}
      columns={[
        { head: t('Name'), isName: true, cell: ({ name }) => <code>{name}</code> },
        { head: t('Value'), cell: (setting) => <Value view={view} of={setting} /> },
        {
          head: t('From'),
          class: 't',
          cell: ({ from }) => (
            <span class={from === 'default' ? 'soft' : undefined}>{words.sources[from]}</span>
          ),
        },
        {
          head: t('Meaning'),
          class: 'wide',
          cell: ({ name, meaning }) => words.meanings[name] ?? <Said text={meaning} lang="en" />,
        },
      ]}
      rows={settings}
    />
  );
}

function Value({
  view: { t, words },
  of: { value, isSecret },
}: {
  view: View;
  of: SettingInForce;
}) {
  if (value === null) return <span class="soft">{t('none')}</span>;
  return isSecret ? <>{words.secrets[value]}</> : <Foreign text={value} />;
}
