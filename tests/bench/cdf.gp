# SPDX-License-Identifier: GPL-2.0-or-later
# cdf.gp - wake-up latency by quantile, one line a column; the axis stretches the tail
#
# gnuplot -e "tsv='FILE'; columns='default schedd'" cdf.gp >FILE.svg

set terminal svg size 1000,600 dynamic font 'sans-serif,13' background 'white'
set datafile separator "\t"
nines(p) = p < 1 ? -log10(1 - p) : NaN
set xlabel 'share of wake-ups that were no later'
set ylabel 'us'
set logscale y
set grid
set xtics ('0' 0, '90 %%' 1, '99 %%' 2, '99.9 %%' 3, '99.99 %%' 4)
set xrange [0:4]
set key outside right top
plot for [c in columns] tsv using (strcol(1) eq c ? nines($2) : NaN):3 with lines linewidth 2 title c
