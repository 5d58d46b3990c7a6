// The settings as an .env.example: every one a comment, with its default. A test keeps the file equal to this text.
import { groups, settings } from './settings-table.ts';

const head = `# Settings of Outlast. Copy this file to .env, take away the # where you set something, and hand it over:
#   node --env-file=.env dist/src/main.js sync
# Outlast does not read .env by itself.
#
# Each secret can instead come from a file, as Docker and Kubernetes mount them: NAME_FILE=/path.
`;

export function envExample(): string {
  return Object.entries(groups)
    .map(([group, title]) => {
      const lines = settings
        .filter(({ about }) => about.group === group)
        .map(({ name, about }) => {
          const value = about.default ?? about.example ?? '';
          return `\n# ${about.sentence}\n# ${name}=${value.includes(' ') ? `"${value}"` : value}\n`;
        });
      return `\n# --- ${title} ---\n${lines.join('')}`;
    })
    .reduce((text, part) => text + part, head);
}
