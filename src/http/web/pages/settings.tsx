// The settings in force, for whoever may read every project here. Of a secret only whether it is set (P10).
import type { SettingInForce } from '../../../model.ts';
import { Foreign, Table } from '../layout.tsx';
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
      head={
        <>
          <th scope="col">{words.settings.name}</th>
          <th scope="col">{words.settings.value}</th>
          <th scope="col">{words.settings.source}</th>
          <th scope="col">{words.settings.meaning}</th>
        </>
      }
    >
      {settings.map(({ name, value, from, isSecret, meaning }) => (
        <tr>
          <th scope="row">
            <code>{name}</code>
          </th>
          <td>
            {value === null ? (
              <span class="soft">{words.none}</span>
            ) : isSecret ? (
              words.settings.secrets[value]
            ) : (
              <Foreign text={value} />
            )}
          </td>
          <td class={from === 'default' ? 'soft' : undefined}>{words.settings.sources[from]}</td>
          <td class="wide">{meaning}</td>
        </tr>
      ))}
    </Table>
  );
}
