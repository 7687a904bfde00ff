//! A scene as PDF: one page, whose texts are texts in an embedded font.

use super::font::{FILE, Font, NAME};
use super::look::Rgb;
use super::scene::{Anchor, Item, Path, Scene, Step, Text};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::collections::BTreeMap;
use std::io::Write as _;
use subsetter::{GlyphRemapper, subset};

const FONT: Name<'static> = Name(b"F1");
const IDENTITY: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The letters that the page has.
#[derive(Default)]
struct Used {
    remapper: GlyphRemapper,
    /// The letter of each glyph of the embedded font.
    letters: BTreeMap<u16, char>,
    /// The widths of these glyphs, in thousandths of the font's height.
    widths: BTreeMap<u16, f32>,
}

/// Writes the scene. The same scene gives the same bytes.
pub(super) fn write(scene: &Scene, font: &Font) -> Vec<u8> {
    let mut used = Used::default();
    let mut opacities: Vec<f64> = Vec::new();
    let content = content(scene, font, &mut used, &mut opacities);
    let mut pdf = Pdf::new();
    let mut next = 0;
    let mut id = || {
        next += 1;
        Ref::new(next)
    };
    let (catalog, tree, page, contents, info) = (id(), id(), id(), id(), id());
    let (type0, cid, descriptor, cmap, file) = (id(), id(), id(), id(), id());
    pdf.catalog(catalog).pages(tree);
    pdf.pages(tree).kids([page]).count(1);
    let mut leaf = pdf.page(page);
    leaf.parent(tree)
        .media_box(Rect::new(0.0, 0.0, scene.width as f32, scene.height as f32))
        .contents(contents);
    let mut resources = leaf.resources();
    resources.fonts().pair(FONT, type0);
    let states: Vec<(String, Ref)> = (0..opacities.len()).map(|place| (format!("O{place}"), id())).collect();
    let mut named = resources.ext_g_states();
    for (name, state) in &states {
        named.pair(Name(name.as_bytes()), *state);
    }
    named.finish();
    resources.finish();
    leaf.finish();
    for ((_, state), opacity) in states.iter().zip(&opacities) {
        pdf.ext_graphics(*state).stroking_alpha(*opacity as f32).non_stroking_alpha(*opacity as f32);
    }
    pdf.stream(contents, &compressed(&content)).filter(Filter::FlateDecode);
    pdf.document_info(info)
        .title(TextStr(&scene.title))
        .producer(TextStr(concat!("tightlink ", env!("CARGO_PKG_VERSION"))));
    embed(&mut pdf, font, &used, [type0, cid, descriptor, cmap, file]);
    pdf.finish()
}

/// Embeds the glyphs that are used.
fn embed(pdf: &mut Pdf, font: &Font, used: &Used, [type0, cid, descriptor, cmap, file]: [Ref; 5]) {
    let part = subset(FILE, 0, &used.remapper).unwrap_or_else(|_| FILE.to_owned());
    // The name of a part begins with six letters that distinguish it from other parts.
    let hash = blake3::hash(&part);
    let tag = hash.as_bytes()[..6].iter().map(|byte| char::from(b'A' + byte % 26));
    let name: String = tag.chain("+".chars()).chain(NAME.chars()).collect();
    let name = Name(name.as_bytes());
    pdf.type0_font(type0)
        .base_font(name)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(cid)
        .to_unicode(cmap);
    let mut descendant = pdf.cid_font(cid);
    descendant
        .subtype(CidFontType::Type2)
        .base_font(name)
        .system_info(IDENTITY)
        .font_descriptor(descriptor)
        .cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = descendant.widths();
    for (glyph, width) in &used.widths {
        widths.consecutive(*glyph, [*width]);
    }
    widths.finish();
    descendant.finish();
    let face = &font.face;
    let thousandths = |units: i16| (f64::from(units) * 1000.0 / font.units) as f32;
    let box_ = face.global_bounding_box();
    pdf.font_descriptor(descriptor)
        .name(name)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(
            thousandths(box_.x_min),
            thousandths(box_.y_min),
            thousandths(box_.x_max),
            thousandths(box_.y_max),
        ))
        .italic_angle(0.0)
        .ascent(thousandths(face.ascender()))
        .descent(thousandths(face.descender()))
        .cap_height(thousandths(face.capital_height().unwrap_or_else(|| face.ascender())))
        .stem_v(80.0)
        .font_file2(file);
    let mut unicode = UnicodeCmap::new(Name(b"Custom"), IDENTITY);
    for (glyph, letter) in &used.letters {
        unicode.pair(*glyph, *letter);
    }
    pdf.cmap(cmap, &unicode.finish());
    pdf.stream(file, &compressed(&part))
        .filter(Filter::FlateDecode)
        .pair(Name(b"Length1"), part.len() as i32);
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // A vector takes all bytes.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

/// Writes the page's operators. `opacities` gets the opacities below 1 that it uses.
fn content(scene: &Scene, font: &Font, used: &mut Used, opacities: &mut Vec<f64>) -> Vec<u8> {
    let mut out = Content::new();
    // A scene has its origin at the upper left, a page at the lower left.
    out.transform([1.0, 0.0, 0.0, -1.0, 0.0, scene.height as f32]);
    for item in &scene.items {
        match item {
            Item::Path(path) => {
                out.save_state();
                if path.inside {
                    let plot = scene.plot;
                    out.rect(plot.left as f32, plot.top as f32, plot.width() as f32, plot.height() as f32);
                    out.clip_nonzero().end_path();
                }
                if path.opacity < 1.0 {
                    let known = opacities.iter().position(|known| *known == path.opacity);
                    let place = known.unwrap_or_else(|| {
                        opacities.push(path.opacity);
                        opacities.len() - 1
                    });
                    out.set_parameters(Name(format!("O{place}").as_bytes()));
                }
                self::path(&mut out, path);
                out.restore_state();
            }
            Item::Text(text) => self::text(&mut out, text, font, used),
            Item::Begin(..) | Item::End => {}
        }
    }
    out.finish().to_vec()
}

fn path(out: &mut Content, path: &Path) {
    if let Some(Rgb(parts)) = path.fill {
        let [red, green, blue] = parts.map(share);
        out.set_fill_rgb(red, green, blue);
    }
    if let Some(stroke) = &path.stroke {
        let [red, green, blue] = stroke.color.0.map(share);
        out.set_stroke_rgb(red, green, blue);
        out.set_line_width(stroke.width as f32).set_line_join(LineJoinStyle::RoundJoin);
        if !stroke.dash.is_empty() {
            out.set_dash_pattern(stroke.dash.iter().map(|length| *length as f32), 0.0);
        }
    }
    for step in &path.steps {
        match step {
            Step::Move(x, y) => out.move_to(*x as f32, *y as f32),
            Step::Line(x, y) => out.line_to(*x as f32, *y as f32),
            Step::Curve(all) => {
                let [a, b, c, d, e, f] = all.map(|value| value as f32);
                out.cubic_to(a, b, c, d, e, f)
            }
            Step::Close => out.close_path(),
        };
    }
    match (path.fill.is_some(), path.stroke.is_some()) {
        (true, true) => out.fill_nonzero_and_stroke(),
        (true, false) => out.fill_nonzero(),
        (false, true) => out.stroke(),
        (false, false) => out.end_path(),
    };
}

fn text(out: &mut Content, text: &Text, font: &Font, used: &mut Used) {
    let letters = font.letters(&text.text);
    let width = font.width(&text.text, text.size);
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    let [red, green, blue] = text.color.0.map(share);
    out.begin_text();
    out.set_fill_rgb(red, green, blue);
    out.set_font(FONT, text.size as f32);
    let (x, y) = (text.x as f32, text.y as f32);
    // The page is mirrored, so letters are mirrored once more.
    out.set_text_matrix(if text.upwards {
        [0.0, -1.0, -1.0, 0.0, x, y + before as f32]
    } else {
        [1.0, 0.0, 0.0, -1.0, x - before as f32, y]
    });
    let mut shown = out.show_positioned();
    let mut items = shown.items();
    for letter in &letters {
        let glyph = used.remapper.remap(letter.glyph.0);
        let own = f64::from(font.face.glyph_hor_advance(letter.glyph).unwrap_or_default());
        used.letters.entry(glyph).or_insert(letter.letter);
        used.widths.insert(glyph, (own * 1000.0 / font.units) as f32);
        items.show(Str(&glyph.to_be_bytes()));
        if own > letter.advance {
            items.adjust(((own - letter.advance) * 1000.0 / font.units) as f32);
        }
    }
    items.finish();
    shown.finish();
    out.end_text();
}

fn share(part: u8) -> f32 {
    f32::from(part) / 255.0
}
